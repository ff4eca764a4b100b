// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of rows, and how they are divided among ranks.
#include "cg/names.hpp"
#include "cg/options.hpp"
#include "grid_matrix.hpp"
#include "partition/metis_partition.hpp"
#include "partition/reverse_cuthill_mckee.hpp"
#include "partition/row_plan.hpp"
#include "refusal.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace kontor::cg::test {
namespace {

TEST(Ordering, BringsNeighboursTogether) {
  for (const std::int64_t n : {1, 2, 9, 20}) {
    const auto matrix = shuffled_grid(n, n % 2 == 0);
    const auto order = reverse_cuthill_mckee(make_graph<std::int64_t>(matrix));
    EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), static_cast<std::size_t>(n * n));
    EXPECT_LE(bandwidth(matrix, order), n) << n; // levels are diagonals of the grid
  }
  // A path, and rows that have no neighbours: so many parts must not take long.
  CoordinateMatrix many{.source = "", .rows = 200001, .symmetric = true, .entries = {}};
  for (std::int64_t row = 0; row < many.rows; ++row) {
    const std::int64_t half = 100000;
    if (row > half) many.entries.push_back({row, row - half - 1, -1, 1}); // row 0 to row half + 1 and so on
    if (row > half && row - half < half) many.entries.push_back({row, row - half, -1, 1});
    many.entries.push_back({row, row, 4, 1});
  }
  many.rows += 100000;
  for (auto row = many.rows - 100000; row < many.rows; ++row) many.entries.push_back({row, row, 4, 1});
  const auto order = reverse_cuthill_mckee(make_graph<std::int64_t>(many));
  EXPECT_EQ(bandwidth(many, order), 1);
}

TEST(RowPlan, GivesEachRankARowAndBalancesBytes) {
  for (const std::int64_t n : {1, 2, 5})
    for (int ranks = 1; ranks <= n * n; ++ranks) {
      const auto plan = plan_rows(shuffled_grid(n, true), PartitionKind::rows, Ordering::natural, ranks);
      for (int rank = 0; rank < ranks; ++rank) EXPECT_LT(plan.first[rank], plan.first[rank + 1]);
      EXPECT_EQ(plan.first[ranks], n * n);
    }
  // The first row of an arrow has as many entries as all others: it weighs as much as a quarter of them.
  CoordinateMatrix arrow{.source = "", .rows = 1000, .symmetric = true, .entries = {}};
  for (std::int64_t row = 0; row < arrow.rows; ++row) {
    if (row > 0) arrow.entries.push_back({row, 0, -1, 1});
    arrow.entries.push_back({row, row, 2000, 1});
  }
  const auto plan = plan_rows(arrow, PartitionKind::rows, Ordering::natural, 2);
  EXPECT_NEAR(static_cast<double>(plan.first[1]), 450, 5);
  EXPECT_EQ(plan.cut, 2 * (1000 - plan.first[1]));
  EXPECT_EQ(plan.interior[1], 0); // all read row 0
}

TEST(RowPlan, IsNotMadeWithoutMemoryForIt) {
  const auto matrix = shuffled_grid(30, true);
  const auto refusal = [&](PartitionKind partition, Ordering ordering, double memory) {
    return error_of([&] { plan_rows(matrix, partition, ordering, 3, memory); });
  };
  constexpr double enough = 50 * 900; // for consecutive rows
  EXPECT_EQ(refusal(PartitionKind::rows, Ordering::natural, enough), "");
  expect_facts(refusal(PartitionKind::rows, Ordering::natural, 1000), {"900 rows", "4.05e-05 GB", "1e-06 GB"}, "rows");
  expect_facts(refusal(PartitionKind::metis, Ordering::natural, enough), {"900 rows", "partition: rows"}, "metis");
  expect_facts(refusal(PartitionKind::rows, Ordering::rcm, enough), {"900 rows", "ordering: natural"}, "rcm");
}

TEST(RowPlan, OfMetisIsAlwaysTheSameAndCutsLess) {
  if (!has_metis()) GTEST_SKIP() << "this build has no METIS";
  const auto matrix = shuffled_grid(20, true);
  const auto rows = plan_rows(matrix, PartitionKind::rows, Ordering::natural, 4);
  const auto metis = plan_rows(matrix, PartitionKind::metis, Ordering::natural, 4);
  EXPECT_EQ(metis.owner, plan_rows(matrix, PartitionKind::metis, Ordering::natural, 4).owner);
  EXPECT_LT(metis.cut, rows.cut / 5);
  EXPECT_LT(metis.cut, 2 * 4 * 20);
  EXPECT_LT(metis.imbalance(), 1.1);
  EXPECT_TRUE(metis_refusal(std::int64_t{1} << 40).has_value() || sizeof(void*) == 0);
  for (const std::int64_t n : {1, 2, 3}) // parts may be empty
    for (int ranks = 1; ranks <= n * n; ++ranks)
      EXPECT_EQ(plan_rows(shuffled_grid(n, true), PartitionKind::metis, Ordering::rcm, ranks).first[ranks], n * n);
}

} // namespace
} // namespace kontor::cg::test
