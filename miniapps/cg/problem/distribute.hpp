// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/options.hpp"
#include "cg/problem/linear_system.hpp"
#include "partition/row_plan.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::cg {

/// What rank 0 has read; empty on the other ranks.
struct WholeSystem {
  CoordinateMatrix matrix; ///< sorted
  RowPlan plan;
  std::vector<double> rhs;     ///< by row; of RhsKind::file, else empty
  std::vector<double> initial; ///< by row; empty: 0
};

/// Collective. Each rank's rows of rank 0's system, sent a bounded number of entries at a time, so that rank 0 needs no
/// memory for more than its own rows. What rank 0 has is freed. `rhs` says what the right-hand side is, on all ranks:
/// with a_times_ones the solution is known. A row's values are the same for any plan. Throws AgreedError on every rank
/// if the rows of a rank, with what a solve by these options takes, do not fit into its memory, or are more than local
/// numbers can count.
LinearSystem distribute(const comm::Communicator&, WholeSystem, RhsKind rhs, const SolverOptions& = {});

} // namespace kontor::cg
