// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/coordinate_matrix.hpp"

#include <limits>

namespace kontor::partition {

/// How the rows of a matrix are divided among the ranks.
enum class PartitionKind { rows, metis };

/// Which rank has which rows of a matrix, and in which order.
struct RowPlan {
  std::vector<int> owner;             ///< of each row
  std::vector<std::int64_t> rows;     ///< those of rank 0, of rank 1, ...: first those that read own rows only
  std::vector<std::int64_t> first;    ///< where each rank's begin in `rows`: (ranks + 1)
  std::vector<std::int64_t> interior; ///< how many of each rank read own rows only
  std::vector<std::int64_t> lengths;  ///< entries of each row, both triangles
  std::vector<std::int64_t> entries;  ///< of each rank
  std::int64_t cut = 0;               ///< entries whose row and column are on different ranks
  std::int64_t bandwidth = 0;         ///< greatest distance of row and column of an entry

  int ranks() const { return static_cast<int>(interior.size()); }
  /// The most entries of a rank beside their mean.
  double imbalance() const;
};

/// Local. Divides a matrix with sorted entries among the ranks, of which it has no fewer rows. A row weighs as much as
/// an iteration moves bytes for it: 12 an entry, and about 96 for the vectors. `rows`: consecutive rows, no rank
/// without one; `metis`: few entries between ranks, and a rank may have no row. Throws config::Error if that takes more
/// than `memory`, bytes.
RowPlan plan_rows(const CoordinateMatrix&, PartitionKind, int ranks,
                  double memory = std::numeric_limits<double>::infinity());

/// Local. What all rows of a matrix weigh, in entries.
std::int64_t weight_of(const CoordinateMatrix&);

} // namespace kontor::partition
