// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/copy_block.hpp"

#include <kontor/comm/views/layout.hpp>

#include <algorithm>
#include <utility>

namespace kontor::comm::ipc {
namespace {

/// A loop over both arrays; strides in bytes.
struct Loop {
  std::int64_t extent;
  std::int64_t from_stride;
  std::int64_t to_stride;
};

using Loops = std::vector<Loop>; // slowest first

/// Makes one loop of two that lie end to end at both ends.
void add_inner(Loops& loops, const Loop& inner) {
  if (inner.extent == 1) return;
  if (!loops.empty()) {
    auto& outer = loops.back();
    if (outer.from_stride == inner.extent * inner.from_stride && outer.to_stride == inner.extent * inner.to_stride) {
      outer = {outer.extent * inner.extent, inner.from_stride, inner.to_stride};
      return;
    }
  }
  loops.push_back(inner);
}

/// Down to single bytes: the innermost loop goes over consecutive ones at both ends.
Loops loops_over_bytes(const Buffer& from, const Buffer& to) {
  const std::int64_t size = to.scalar.size;
  const auto order = storage_order(to.shape);
  Loops loops;
  for (int i = 0; i < order.rank; ++i) {
    const int d = order.dims[i];
    add_inner(loops, {to.shape.extents[d], from.shape.strides[d] * size, to.shape.strides[d] * size});
  }
  add_inner(loops, {size, 1, 1});
  if (loops.empty() || loops.back().from_stride != 1 || loops.back().to_stride != 1)
    loops.push_back({1, 1, 1}); // elements of one byte that do not lie side by side
  return loops;
}

std::int64_t largest_unit(const CopyBlock& block, const Loops& loops) {
  const auto fits = [&](std::int64_t unit) {
    const auto aligned = [&](const void* data) {
      return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(unit) == 0;
    };
    return aligned(block.from) && aligned(block.to) && loops.back().extent % unit == 0 &&
           std::all_of(loops.begin(), loops.end() - 1,
                       [&](const Loop& loop) { return loop.from_stride % unit == 0 && loop.to_stride % unit == 0; });
  };
  std::int64_t unit = 16;
  while (!fits(unit)) unit /= 2;
  return unit;
}

std::int64_t count(const Loops& loops) {
  std::int64_t units = 1;
  for (const auto& loop : loops) units *= loop.extent;
  return units;
}

/// Adds the block, its slowest loop halved as often as it takes.
void add(std::vector<CopyBlock>& result, CopyBlock block, Loops loops, std::int64_t limit) {
  if (const auto units = count(loops); units <= limit) {
    block.units = static_cast<std::uint32_t>(units);
    block.loops = static_cast<int>(loops.size());
    for (std::size_t d = 0; d < loops.size(); ++d) {
      block.extents[d] = static_cast<std::uint32_t>(loops[d].extent);
      block.from_strides[d] = loops[d].from_stride;
      block.to_strides[d] = loops[d].to_stride;
    }
    result.push_back(block);
    return;
  }
  if (loops.front().extent == 1) loops.erase(loops.begin());
  auto& slowest = loops.front();
  const auto half = slowest.extent / 2;
  const auto rest = slowest.extent - half;
  slowest.extent = half;
  add(result, block, loops, limit);
  slowest.extent = rest;
  block.from += half * slowest.from_stride;
  block.to += half * slowest.to_stride;
  add(result, block, std::move(loops), limit);
}

} // namespace

std::vector<CopyBlock> copy_blocks(const Buffer& from, const Buffer& to, std::int64_t limit) {
  if (element_count(to.shape) == 0) return {};
  CopyBlock block;
  block.from = static_cast<const std::byte*>(from.data);
  block.to = static_cast<std::byte*>(to.data);
  auto loops = loops_over_bytes(from, to);
  const auto unit = largest_unit(block, loops);
  block.unit = static_cast<std::uint32_t>(unit);
  loops.back() = {loops.back().extent / unit, unit, unit};
  if (loops.back().extent == 1 && loops.size() > 1) loops.pop_back();
  std::vector<CopyBlock> result;
  add(result, block, std::move(loops), limit);
  return result;
}

std::uint32_t number_tiles(std::vector<CopyBlock>& copy_blocks) {
  std::uint32_t tiles = 0;
  for (auto& block : copy_blocks) {
    block.first_tile = tiles;
    tiles += (block.units + tile_units - 1) / tile_units;
  }
  return tiles;
}

} // namespace kontor::comm::ipc
