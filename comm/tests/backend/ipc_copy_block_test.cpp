// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops by which backend `ipc` copies cells to another rank, walked on the host by the functions of the kernel.
#include "backend/ipc/copy_block.hpp"

#include <kontor/comm/views/layout.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <tuple>

namespace kontor::comm::ipc {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Memory with an array in it; bytes before the first element, and gaps, belong to nobody.
class Array {
 public:
  Array(const Sizes& extents, const Sizes& strides, std::uint32_t size, std::size_t before = 0) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < extents.size(); ++d) last += std::max<std::int64_t>(0, extents[d] - 1) * strides[d];
    const auto bytes = before + static_cast<std::size_t>(last + 1) * size;
    memory_.resize(bytes / sizeof(Aligned) + 1);
    buffer.data = data() + before;
    buffer.scalar = {ScalarKind::bytes, size};
    buffer.shape.rank = static_cast<int>(extents.size());
    std::copy(extents.begin(), extents.end(), buffer.shape.extents.begin());
    std::copy(strides.begin(), strides.end(), buffer.shape.strides.begin());
  }

  std::byte* data() { return reinterpret_cast<std::byte*>(memory_.data()); }
  std::size_t bytes() const { return memory_.size() * sizeof(Aligned); }
  void fill(unsigned seed) {
    std::mt19937 random(seed);
    std::generate_n(data(), bytes(), [&] { return static_cast<std::byte>(random()); });
  }

  Buffer buffer;

 private:
  struct alignas(16) Aligned {
    std::byte bytes[16];
  };
  std::vector<Aligned> memory_;
};

/// Calls f(element of one, element of the other) for all logical indices.
template <class F>
void for_each_element(const Buffer& a, const Buffer& b, const F& f) {
  const auto place = [](const Buffer& buffer, std::int64_t index) {
    std::int64_t offset = 0;
    for (int d = 0; d < buffer.shape.rank; ++d) {
      offset += index % buffer.shape.extents[d] * buffer.shape.strides[d];
      index /= buffer.shape.extents[d];
    }
    return static_cast<std::byte*>(buffer.data) + offset * buffer.scalar.size;
  };
  for (std::int64_t i = 0; i < element_count(a.shape); ++i) f(place(a, i), place(b, i));
}

/// What the kernel does, tile by tile and thread by thread; how often each byte is written is counted.
std::vector<int> run(const std::vector<CopyBlock>& list, std::uint32_t tiles, Array& to) {
  std::vector<int> written(to.bytes(), 0);
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
        for (std::uint32_t i = 0; i < block.unit; ++i) ++written[block.to + offsets.to + i - to.data()];
      }
    }
  }
  return written;
}

/// Every element arrives, written once, and nothing else is written.
void expect_copied(Array& from, Array& to, std::int64_t limit = max_units) {
  from.fill(1);
  to.fill(2);
  auto list = copy_blocks(from.buffer, to.buffer, limit);
  const auto tiles = number_tiles(list);
  std::uint32_t needed = 0;
  for (const auto& block : list) {
    EXPECT_LE(block.units, limit);
    needed += (block.units + tile_turns * tile_threads - 1) / (tile_turns * tile_threads);
  }
  EXPECT_EQ(tiles, needed);
  auto written = run(list, tiles, to);
  for_each_element(from.buffer, to.buffer, [&](const std::byte* a, const std::byte* b) {
    EXPECT_EQ(std::memcmp(a, b, from.buffer.scalar.size), 0);
    for (std::uint32_t i = 0; i < from.buffer.scalar.size; ++i) EXPECT_EQ(--written[b + i - to.data()], 0);
  });
  EXPECT_TRUE(std::all_of(written.begin(), written.end(), [](int times) { return times == 0; }));
}

CopyBlock only_piece(Array& from, Array& to) {
  expect_copied(from, to);
  const auto list = copy_blocks(from.buffer, to.buffer);
  EXPECT_EQ(list.size(), 1u);
  return list.at(0);
}

/// Contiguous Views go in the largest units, columns element by element, structs in several units, and neighbours are
/// those in the memory that is written.
TEST(IpcPieces, UnitsOfEachShape) {
  using Two = std::pair<std::int64_t, std::int64_t>;
  const auto piece = [](const Sizes& extents, const Sizes& from_strides, const Sizes& to_strides, std::uint32_t size) {
    Array from(extents, from_strides, size), to(extents, to_strides, size);
    return only_piece(from, to);
  };
  const auto contiguous = piece({40, 50}, {50, 1}, {50, 1}, 8);
  EXPECT_EQ(std::tuple(contiguous.unit, contiguous.units, contiguous.loops), std::tuple(16u, 1000u, 1));
  const auto column = piece({30}, {12}, {17}, 8);
  EXPECT_EQ(std::tuple(column.unit, column.units, column.loops), std::tuple(8u, 30u, 1));
  EXPECT_EQ(Two(column.from_strides[0], column.to_strides[0]), Two(96, 136));
  const auto structs = piece({5, 6}, {20, 2}, {6, 1}, 12);
  EXPECT_EQ(Two(structs.unit, structs.units), Two(4, 90));
  const auto offsets = offsets_of(piece({4, 5}, {1, 4}, {5, 1}, 8), 1);
  EXPECT_EQ(Two(offsets.from, offsets.to), Two(32, 8));
}

TEST(IpcPieces, UnitsFitTheirPlaces) {
  const auto unit = [](std::size_t before_from, std::size_t before_to, std::int64_t extent, std::uint32_t size) {
    Array from({extent}, {1}, size, before_from), to({extent}, {1}, size, before_to);
    return only_piece(from, to).unit;
  };
  EXPECT_EQ(unit(0, 0, 64, 4), 16u);
  EXPECT_EQ(unit(0, 8, 64, 8), 8u);
  EXPECT_EQ(unit(8, 8, 64, 8), 8u);
  EXPECT_EQ(unit(0, 4, 64, 4), 4u);
  EXPECT_EQ(unit(0, 0, 63, 4), 4u);
  EXPECT_EQ(unit(0, 0, 7, 2), 2u);
  EXPECT_EQ(unit(0, 0, 7, 3), 1u);
  EXPECT_EQ(unit(0, 0, 16, 3), 16u);
  EXPECT_EQ(unit(0, 0, 5, 24), 8u);
  EXPECT_EQ(unit(0, 0, 5, 16), 16u);
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
