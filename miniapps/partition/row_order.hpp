// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/by_rank.hpp"
#include "partition/partition.hpp"

namespace kontor::partition {

/// Collective, waits. Values of own rows, wherever they are, as this rank's block of all values in the order of rows,
/// which begins at grid::part_begin(); NaN in those that no rank has.
std::vector<double> in_row_order(const comm::Communicator&, const Partition&, const Vector& own);

/// Collective, waits. Values of these rows of a vector, in any order and more than once; own values are given. They
/// travel in slices, so that a rank has a small part of its block at a time.
std::vector<double> values_of_rows(const comm::Communicator&, const Partition&, const Vector& own,
                                   const std::vector<GlobalIndex>& wanted);

/// Rows by their numbers, in any order and more than once, wherever they are: found once, read of any vector.
class RowLookup {
 public:
  /// Collective, waits.
  RowLookup(const comm::Communicator&, const Partition&, const std::vector<GlobalIndex>& wanted);
  /// Collective over the same ranks, waits. The rows' values, of own values; NaN in those that no rank has.
  std::vector<double> operator()(const comm::Communicator&, const Vector& own) const;

 private:
  std::size_t count_;
  ByRank<LocalIndex> asked_;   ///< own rows that other ranks want
  ByRank<std::size_t> places_; ///< of those that come from a rank
};

/// Collective, waits. The reverse: own values, of the ranks' blocks of all values.
void from_row_order(const comm::Communicator&, const Partition&, const std::vector<double>& block, const Vector& own);

} // namespace kontor::partition
