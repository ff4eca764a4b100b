// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/row_plan.hpp"

#include "partition/metis_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kontor::partition {
namespace {

constexpr std::int64_t of_vectors = 8; ///< 96 bytes a row, beside 12 an entry

std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }

/// Consecutive rows, cut where the weight before is nearest to the rank's share; each rank has a row.
std::vector<int> consecutive(const std::vector<std::int64_t>& weights, int ranks) {
  const auto rows = static_cast<std::int64_t>(weights.size());
  const auto total = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  std::vector<int> owner(weights.size());
  int rank = 0;
  std::int64_t before = 0; // weight
  std::int64_t of_rank = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto weight = weights[at(i)];
    const auto middle = static_cast<double>(before) + 0.5 * static_cast<double>(weight);
    const auto share = static_cast<double>(total) / ranks * (rank + 1);
    const bool full = of_rank > 0 && middle > share && rank + 1 < ranks;
    const bool others_need_all = rows - i == ranks - rank - 1; // a row each
    if (full || (of_rank > 0 && others_need_all)) {
      ++rank;
      of_rank = 0;
    }
    owner[at(i)] = rank;
    before += weight;
    ++of_rank;
  }
  return owner;
}

/// The plan and what it is made by: of the graph, METIS needs 13 bytes an entry and 60 a row besides (measured for 7
/// and 27 points on a grid).
void require_memory(const CoordinateMatrix& matrix, PartitionKind partition, double memory) {
  const auto rows = static_cast<double>(matrix.rows), entries = static_cast<double>(matrix.nonzeros());
  double bytes = 29 * rows;
  if (partition == PartitionKind::metis) bytes += (4 + 13) * entries + (20 + 60) * rows;
  if (bytes <= memory) return;
  fail_at(matrix.source, 0,
          fmt::format("to divide its {} rows and {} entries takes {:.4g} GB on rank 0, which has {:.4g} GB free{}",
                      matrix.rows, matrix.nonzeros(), bytes / 1e9, memory / 1e9,
                      partition == PartitionKind::rows ? "" : "; partition: rows takes least"),
          "E-MEMORY");
}

} // namespace

std::int64_t weight_of(const CoordinateMatrix& matrix) { return matrix.nonzeros() + of_vectors * matrix.rows; }

double RowPlan::imbalance() const {
  const auto total = std::accumulate(entries.begin(), entries.end(), std::int64_t{0});
  const auto most = *std::max_element(entries.begin(), entries.end());
  return static_cast<double>(most) * ranks() / static_cast<double>(total);
}

RowPlan plan_rows(const CoordinateMatrix& matrix, PartitionKind partition, int ranks, double memory) {
  require_memory(matrix, partition, memory);
  RowPlan plan;
  plan.lengths.assign(at(matrix.rows), 0);
  for_each_entry(matrix, [&](std::int64_t row, std::int64_t, double) { ++plan.lengths[at(row)]; });
  auto weights = plan.lengths;
  for (auto& weight : weights) weight += of_vectors;
  plan.owner = partition == PartitionKind::metis ? metis_parts(matrix, weights, ranks) : consecutive(weights, ranks);

  std::vector<bool> boundary(at(matrix.rows), false);
  plan.entries.assign(at(ranks), 0);
  for_each_entry(matrix, [&](std::int64_t row, std::int64_t column, double) {
    ++plan.entries[at(plan.owner[at(row)])];
    plan.bandwidth = std::max(plan.bandwidth, std::abs(row - column));
    if (plan.owner[at(row)] == plan.owner[at(column)]) return;
    boundary[at(row)] = true;
    ++plan.cut;
  });

  // Counting sort by rank and boundary.
  const auto slot = [&](std::int64_t row) { return 2 * at(plan.owner[at(row)]) + (boundary[at(row)] ? 1 : 0); };
  std::vector<std::int64_t> next(2 * at(ranks) + 1, 0);
  for (std::int64_t row = 0; row < matrix.rows; ++row) ++next[slot(row) + 1];
  for (int rank = 0; rank < ranks; ++rank) plan.interior.push_back(next[2 * at(rank) + 1]);
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (int rank = 0; rank <= ranks; ++rank) plan.first.push_back(next[2 * at(rank)]);
  plan.rows.resize(at(matrix.rows));
  for (std::int64_t row = 0; row < matrix.rows; ++row) plan.rows[at(next[slot(row)]++)] = row;
  return plan;
}

} // namespace kontor::partition
