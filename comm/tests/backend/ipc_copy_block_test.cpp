// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops by which backend `ipc` copies cells to another rank, walked on the host by the functions of the kernel.
#include "backend/ipc/copy_block.hpp"
#include "watched.hpp"

#include <kontor/comm/views/layout.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>

namespace kontor::comm::ipc {
namespace {

using Sizes = std::vector<std::size_t>;

/// Memory with an array in it; bytes before the first element, and gaps, belong to nobody.
struct Array {
  Array(const Sizes& extents, const Sizes& strides, std::uint32_t size, std::size_t before = 0) {
    auto places = test::element_offsets(extents, strides, test::Order::logical);
    const auto last = places.empty() ? 0 : *std::ranges::max_element(places);
    memory.resize((before + (last + 1) * size) / sizeof(Aligned) + 1);
    const auto bytes = std::as_writable_bytes(std::span(memory));
    for (auto& place : places) place = before + place * size;
    buffer = {bytes.data() + before, {ScalarKind::bytes, size}, {static_cast<int>(extents.size())}, {}, ""};
    std::copy(extents.begin(), extents.end(), buffer.shape.extents.begin());
    std::copy(strides.begin(), strides.end(), buffer.shape.strides.begin());
    watched.emplace("array", size, bytes, std::move(places));
  }

  struct alignas(16) Aligned {
    std::byte bytes[16];
  };
  std::vector<Aligned> memory;
  Buffer buffer;
  std::optional<test::Watched> watched;
};

/// What the kernel does, tile by tile and thread by thread; the bytes that are written.
std::int64_t run(const std::vector<CopyBlock>& list, std::uint32_t tiles) {
  std::int64_t written = 0;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    const auto& block = block_of(list.data(), static_cast<int>(list.size()), tile);
    for (int turn = 0; turn < tile_turns; ++turn) {
      for (int thread = 0; thread < tile_threads; ++thread) {
        const auto unit = unit_of(block, tile, turn, thread);
        if (unit >= block.units) continue;
        const auto offsets = offsets_of(block, unit);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.from + offsets.from) % block.unit, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.to + offsets.to) % block.unit, 0u);
        std::memcpy(block.to + offsets.to, block.from + offsets.from, block.unit);
        written += block.unit;
      }
    }
  }
  return written;
}

/// Every element arrives, written once, and nothing else is written.
void expect_copied(Array& from, Array& to, std::int64_t limit = max_units) {
  from.watched->fill(1);
  to.watched->fill(2);
  auto list = copy_blocks(from.buffer, to.buffer, limit);
  const auto tiles = number_tiles(list);
  std::uint32_t needed = 0;
  for (const auto& block : list) {
    EXPECT_LE(block.units, limit);
    needed += (block.units + tile_turns * tile_threads - 1) / (tile_turns * tile_threads);
  }
  EXPECT_EQ(tiles, needed);
  EXPECT_EQ(run(list, tiles), byte_count(to.buffer));
  to.watched->expect(from.watched->elements(), "copied");
  from.watched->expect_unchanged("read");
}

CopyBlock only_piece(Array& from, Array& to) {
  expect_copied(from, to);
  const auto list = copy_blocks(from.buffer, to.buffer);
  EXPECT_EQ(list.size(), 1u);
  return list.at(0);
}

/// Contiguous Views go in the largest units, columns element by element, structs in several units.
TEST(IpcPieces, UnitsOfEachShape) {
  const auto piece = [](const Sizes& extents, const Sizes& from_strides, const Sizes& to_strides, std::uint32_t size) {
    Array from(extents, from_strides, size), to(extents, to_strides, size);
    return only_piece(from, to);
  };
  const auto units = [](const CopyBlock& block) { return std::tuple(block.unit, block.units, block.loops); };
  EXPECT_EQ(units(piece({40, 50}, {50, 1}, {50, 1}, 8)), std::tuple(16u, 1000u, 1));
  EXPECT_EQ(units(piece({30}, {12}, {17}, 8)), std::tuple(8u, 30u, 1));
  const auto structs = piece({5, 6}, {20, 2}, {6, 1}, 12);
  EXPECT_EQ(std::pair(structs.unit, structs.units), std::pair(4u, 90u));
  const auto offsets = offsets_of(piece({4, 5}, {1, 4}, {5, 1}, 8), 1); // neighbours in the memory that is written
  EXPECT_EQ((std::pair<std::int64_t, std::int64_t>(offsets.from, offsets.to)),
            (std::pair<std::int64_t, std::int64_t>(32, 8)));
}

TEST(IpcPieces, UnitsFitTheirPlaces) {
  struct Fit {
    std::size_t before_from, before_to, extent;
    std::uint32_t size, unit;
  };
  for (const auto& fit :
       {Fit{0, 0, 64, 4, 16}, Fit{0, 8, 64, 8, 8}, Fit{8, 8, 64, 8, 8}, Fit{0, 4, 64, 4, 4}, Fit{0, 0, 63, 4, 4},
        Fit{0, 0, 7, 2, 2}, Fit{0, 0, 7, 3, 1}, Fit{0, 0, 16, 3, 16}, Fit{0, 0, 5, 24, 8}, Fit{0, 0, 5, 16, 16}}) {
    Array from({fit.extent}, {1}, fit.size, fit.before_from), to({fit.extent}, {1}, fit.size, fit.before_to);
    EXPECT_EQ(only_piece(from, to).unit, fit.unit);
  }
}

TEST(IpcPieces, OneElementAndNone) {
  Array one({}, {}, 8), another({}, {}, 8);
  expect_copied(one, another);
  Array byte({1, 1}, {7, 9}, 1, 3), to({1, 1}, {4, 4}, 1, 5);
  expect_copied(byte, to);
  Array none({3, 0}, {4, 1}, 8), also_none({3, 0}, {1, 3}, 8);
  EXPECT_TRUE(copy_blocks(none.buffer, also_none.buffer).empty());
  none.buffer.data = also_none.buffer.data = nullptr;
  EXPECT_TRUE(copy_blocks(none.buffer, also_none.buffer).empty());
}

TEST(IpcPieces, ManyUnitsBecomeSeveralPieces) {
  Array from({7, 300}, {300, 1}, 8), to({7, 300}, {310, 1}, 8);
  EXPECT_EQ(copy_blocks(from.buffer, to.buffer, 1050).size(), 1u);
  EXPECT_EQ(copy_blocks(from.buffer, to.buffer, 1049).size(), 2u);
  for (const std::int64_t limit : {1, 2, 31, 150, 1000}) expect_copied(from, to, limit);
}

/// Arrays of all ranks, each end with its own order of dimensions, gaps and alignment.
TEST(IpcPieces, AnyShapes) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  const auto strides_for = [&](const Sizes& extents) {
    std::vector<int> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Sizes strides(extents.size());
    std::int64_t stride = 1 + below(2);
    for (const int d : order) {
      strides[d] = stride;
      stride *= extents[d];
      stride += below(3) == 0 ? below(5) : 0;
    }
    return strides;
  };
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    Sizes extents(static_cast<std::size_t>(below(max_rank + 1)));
    for (auto& extent : extents) extent = 1 + below(extents.size() > 4 ? 3 : 9);
    constexpr std::uint32_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 48};
    const auto size = sizes[below(9)];
    Array from(extents, strides_for(extents), size, static_cast<std::size_t>(below(3)) * size);
    Array to(extents, strides_for(extents), size, static_cast<std::size_t>(below(3)) * size);
    expect_copied(from, to, round % 3 == 0 ? 1 + below(100) : max_units);
    if (HasFailure()) break;
  }
}

} // namespace
} // namespace kontor::comm::ipc
