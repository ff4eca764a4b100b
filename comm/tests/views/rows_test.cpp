// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange/slot_problem.hpp"
#include "views/pack.hpp"

#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/rows.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace kontor::comm {
namespace {

using Indices = std::vector<std::int64_t>;

Buffer array(std::vector<double>& memory, bool row_by_row) {
  const auto rows = static_cast<std::int64_t>(memory.size()) / 3;
  Shape shape;
  shape.rank = 2;
  shape.extents = {rows, 3, 1, 1, 1, 1, 1, 1};
  shape.strides = row_by_row ? decltype(shape.strides){3, 1} : decltype(shape.strides){1, rows};
  return {memory.data(), {ScalarKind::floating, 8}, shape, MemoryKind::host, "x"};
}

TEST(RowsByIndex, AListThatHasBeenCut) {
  std::vector<double> memory(30);
  auto rows = rows_by_index(array(memory, false), {7, 2}, "list").buffer;
  const auto order = storage_order(rows.shape);
  EXPECT_FALSE(is_contiguous(rows.shape, order));
  rows.shape.extents[0] = 1;
  EXPECT_EQ(loop_nest(rows.shape, order).indexed, 1);
  rows.shape.extents[1] = 1;
  EXPECT_EQ(loop_nest(rows.shape, order).indexed, 0);
}

TEST(RowsByIndex, ConsecutiveOnesAreARange) {
  std::vector<double> memory(30);
  const auto rows = rows_by_index(array(memory, true), {4, 5, 6}, "list");
  EXPECT_FALSE(rows.buffer.shape.by_index);
  EXPECT_EQ(rows.indices, nullptr);
  EXPECT_EQ(rows.buffer.data, memory.data() + 12);
  EXPECT_TRUE(is_contiguous(rows.buffer.shape, storage_order(rows.buffer.shape)));
  EXPECT_FALSE(rows_by_index(array(memory, true), {}, "list").buffer.shape.by_index);
  EXPECT_TRUE(rows_by_index(array(memory, true), {8, 9, 10}, "list").buffer.shape.by_index); // there are 10
  EXPECT_TRUE(rows_by_index(array(memory, true), {-1, 0}, "list").buffer.shape.by_index);
}

/// Against a table of which cells each of them has.
TEST(RowsByIndex, SharedCellsAreFoundExactly) {
  std::mt19937 random(3);
  const auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<double> memory(60);
  int found = 0;
  constexpr int times = 2000;
  for (int i = 0; i < times; ++i) {
    const bool row_by_row = number(0, 1) == 1;
    std::vector<int> receivers(memory.size()), senders(memory.size());
    std::vector<SelectedRows> rows;
    std::vector<Slot> slots;
    for (int n = number(2, 4); n > 0; --n) {
      Indices all(20), chosen;
      std::iota(all.begin(), all.end(), 0);
      const bool receives = number(0, 1) == 1;
      const int kind = number(0, 2);
      if (kind == 0) {
        const int begin = number(0, 19);
        rows.push_back(rows_between(array(memory, row_by_row), begin, number(begin, 20)));
        chosen.assign(all.begin() + begin, all.begin() + begin + rows.back().buffer.shape.extents[0]);
      } else {
        std::ranges::shuffle(all, random);
        chosen.assign(all.begin(), all.begin() + number(0, 5));
        if (!receives && !chosen.empty()) chosen.push_back(chosen.front());
        rows.push_back(rows_by_index(array(memory, row_by_row), chosen, "list"));
      }
      auto buffer = rows.back().buffer;
      const int columns = number(1, 3); // only the first ones
      buffer.shape.extents[1] = columns;
      std::ranges::sort(chosen);
      chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
      for (const auto row : chosen)
        for (int c = 0; c < columns; ++c)
          ++(receives ? receivers : senders)[static_cast<std::size_t>(row_by_row ? 3 * row + c : row + 20 * c)];
      Slot slot;
      (receives ? slot.receive : slot.send) = buffer;
      (receives ? slot.source : slot.destination) = 0;
      slots.push_back(slot);
    }
    bool expected = false;
    for (std::size_t c = 0; c < memory.size(); ++c)
      expected = expected || receivers[c] > 1 || (receivers[c] == 1 && senders[c] > 0);
    EXPECT_EQ(overlap_problem(slots).has_value(), expected) << "case " << i;
    found += expected ? 1 : 0;
  }
  EXPECT_GT(found, times / 4);
  EXPECT_LT(found, times * 3 / 4);
}

/// 64 lists of a million rows together, interleaved, so that each lies within the reach of all others.
TEST(RowsByIndex, AMillionAreChecked) {
  constexpr std::int64_t n = 1 << 20;
  constexpr std::int64_t lists = 64;
  std::vector<double> memory(3 * n);
  std::vector<SelectedRows> rows;
  std::vector<Slot> slots;
  for (std::int64_t l = 0; l < lists; ++l) {
    Indices indices;
    for (std::int64_t i = n / lists; i-- > 0;) indices.push_back(i * lists + l);
    rows.push_back(rows_by_index(array(memory, true), std::move(indices), "list"));
    Slot slot;
    slot.receive = rows.back().buffer;
    slot.source = 0;
    EXPECT_EQ(rows_problem(slot.receive, true, CheckLevel::local), std::nullopt);
    slots.push_back(slot);
  }
  EXPECT_EQ(overlap_problem(slots), std::nullopt);
}

/// Rows that are too far apart for 32 bits, and short rows in many work items.
TEST(RowsByIndex, OffsetsOfAnySize) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  constexpr std::int64_t rows = 5000;
  constexpr std::int64_t far = std::int64_t{1} << 40; // elements from row 1 to row 0, which is beyond reach
  for (const bool wide : {false, true}) {
    std::vector<float> x(3 * (rows + 1)), packed(3 * rows), back(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    Indices indices;
    for (std::int64_t i = 0; i < rows; ++i) indices.push_back(wide ? 1 : rows - i);
    LoopNest nest;
    nest.depth = 2;
    nest.indexed = 0;
    nest.extents[0] = rows;
    nest.extents[1] = 3;
    nest.strides[0] = wide ? far : 3;
    nest.strides[1] = 1;
    const auto origin = [&](std::vector<float>& array) {
      const auto place = reinterpret_cast<std::uintptr_t>(array.data() + 3);
      return reinterpret_cast<float*>(place - (wide ? static_cast<std::uintptr_t>(far) : 3) * sizeof(float));
    };
    const Space instance;
    const PackList<Space> pack({{origin(x), packed.data(), nest, sizeof(float), indices.data()}});
    const PackList<Space> unpack({{origin(back), packed.data(), nest, sizeof(float), indices.data()}});
    pack.run(instance, PackDirection::pack);
    unpack.run(instance, PackDirection::unpack);
    device::fence(instance, "test/packed");
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto from = 3 * (wide ? 1 : indices[static_cast<std::size_t>(i)]) + c;
        ASSERT_EQ(packed[static_cast<std::size_t>(3 * i + c)], x[static_cast<std::size_t>(from)]);
        ASSERT_EQ(back[static_cast<std::size_t>(from)], x[static_cast<std::size_t>(from)]);
      }
  }
}

/// Arrays of all orders in memory, longer and shorter than tiles, against the places that their indices give.
TEST(Packing, OfAnyOrderOfAxes) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  const Space instance;
  for (const auto& n : {std::array<std::int64_t, 3>{37, 5, 19}, {3, 33, 16}, {16, 2, 50}}) {
    std::array<int, 3> order{0, 1, 2}; // of the array's axes, slowest first
    do {
      LoopNest nest;
      nest.depth = 3;
      std::int64_t size = 2; // every second element
      for (int d = 2; d >= 0; --d) {
        nest.strides[order[d]] = size;
        size *= n[order[d]];
      }
      for (int d = 0; d < 3; ++d) nest.extents[d] = n[d];
      std::vector<double> x(static_cast<std::size_t>(size)), packed(x.size() / 2), back(x.size());
      for (std::size_t i = 0; i < x.size(); i += 2) x[i] = static_cast<double>(i);
      copy_piece(instance, PackDirection::pack, {x.data(), packed.data(), nest, sizeof(double)});
      copy_piece(instance, PackDirection::unpack, {back.data(), packed.data(), nest, sizeof(double)});
      device::fence(instance, "test/packed");
      std::size_t at = 0;
      for (std::int64_t i = 0; i < n[0]; ++i)
        for (std::int64_t j = 0; j < n[1]; ++j)
          for (std::int64_t k = 0; k < n[2]; ++k)
            ASSERT_EQ(packed[at++],
                      static_cast<double>(i * nest.strides[0] + j * nest.strides[1] + k * nest.strides[2]));
      ASSERT_EQ(back, x);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

} // namespace
} // namespace kontor::comm
