// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who multiplies which panel when, for many grids; no communication.
#include "matmul/algorithm/axis_part.hpp"
#include "matmul/algorithm/panels.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace kontor::matmul {
namespace {

constexpr GridShape shapes[] = {{1, 1, 1}, {1, 2, 2}, {1, 3, 3}, {1, 2, 3}, {1, 3, 2}, {1, 1, 5}, {1, 7, 1},
                                {1, 4, 6}, {2, 2, 2}, {4, 2, 2}, {3, 2, 2}, {2, 2, 3}, {6, 1, 1}};

template <class Check>
void for_grids(const Check& check) {
  for (const auto& grid : shapes)
    for (const std::int64_t k : {1, 5, 36, 1009}) {
      SCOPED_TRACE(testing::Message() << grid.layers << " x " << grid.rows << " x " << grid.columns
                                      << " ranks, k = " << k);
      check(Panels(k, grid), grid);
    }
}

TEST(Panels, CoverKAndNest) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    EXPECT_EQ(panels.begin(panels.count), panels.k);
    for (int j = 0; j < grid.columns; ++j)
      EXPECT_EQ(panels.begin(j * panels.in_a), block_part(panels.k, grid.columns, j).begin);
    for (int i = 0; i < grid.rows; ++i)
      EXPECT_EQ(panels.begin(i * panels.in_b), block_part(panels.k, grid.rows, i).begin);
    for (std::int64_t first = 0; first < 2 * panels.count; ++first) // around the end too
      EXPECT_LE(panels.size(first, panels.in_a), (panels.k + grid.columns - 1) / grid.columns);
  });
}

TEST(Panels, EachElementOfCGetsEachPanelOnce) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    for (int i = 0; i < grid.rows; ++i)
      for (int j = 0; j < grid.columns; ++j) {
        std::multiset<std::int64_t> multiplied;
        for (int layer = 0; layer < grid.layers; ++layer) {
          std::int64_t before = 0;
          for (const auto& segment : segments(panels, {layer, i, j}, true)) {
            EXPECT_EQ(segment.begin, before);
            before = segment.end;
            for (auto t = segment.begin; t < segment.end; ++t)
              multiplied.insert((panels.first({layer, i, j}) + t) % panels.count);
          }
          EXPECT_EQ(before, panels.steps);
        }
        EXPECT_EQ(static_cast<std::int64_t>(multiplied.size()), panels.count);
        for (std::int64_t panel = 0; panel < panels.count; ++panel) EXPECT_EQ(multiplied.count(panel), 1u);
      }
  });
}

TEST(Panels, NoBlockIsWithTwoRanksOfARingAtOnce) {
  for_grids([](const Panels& panels, const GridShape& grid) {
    for (std::int64_t t = 0; t < panels.steps; ++t)
      for (int i = 0; i < grid.rows; ++i) {
        std::set<std::int64_t> in_row;
        for (int j = 0; j < grid.columns; ++j) in_row.insert((panels.first({0, i, j}) + t) % panels.count);
        EXPECT_EQ(static_cast<int>(in_row.size()), grid.columns);
      }
  });
}

TEST(Panels, SegmentsEndWhereBlocksMoveOn) {
  const Panels panels(60, {1, 2, 3});
  EXPECT_EQ(panels.count, 6);
  EXPECT_EQ(panels.shifts_of_a(), 2);
  EXPECT_EQ(panels.shifts_of_b(), 1);
  std::vector<std::int64_t> ends;
  for (const auto& segment : segments(panels, {0, 0, 0}, false)) ends.push_back(segment.end);
  EXPECT_EQ(ends, (std::vector<std::int64_t>{2, 3, 4, 6}));
}

TEST(AxisPart, BlocksAndCyclicBlocksHoldEachIndexOnce) {
  for (const std::int64_t n : {0, 1, 2, 13, 64, 100})
    for (const std::int64_t parts : {1, 2, 3, 7, 120})
      for (const std::int64_t block : {0, 1, 3, 64}) { // 0: not cyclic
        std::vector<int> owners(static_cast<std::size_t>(n));
        for (std::int64_t p = 0; p < parts; ++p) {
          const auto part = block == 0 ? block_part(n, parts, p) : cyclic_part(n, block, parts, p);
          for (std::int64_t l = 0; l < part.size; ++l) {
            const auto g = part.global(l);
            ASSERT_TRUE(g >= 0 && g < n) << n << " over " << parts << ", block " << block;
            ++owners[static_cast<std::size_t>(g)];
            if (block > 0) {
              EXPECT_EQ(g / block % parts, p); // ScaLAPACK's INDXG2P
            }
          }
        }
        for (const int owned : owners) EXPECT_EQ(owned, 1) << n << " over " << parts << ", block " << block;
      }
}

} // namespace
} // namespace kontor::matmul
