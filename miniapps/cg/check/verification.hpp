// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/check/reference_rows.hpp"
#include "cg/options.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/problem/linear_system.hpp"
#include "cg/solver/stop_reason.hpp"
#include "partition/row_order.hpp"
#include "run/record/result.hpp"

namespace kontor::cg {

/// How near a solution is, over all rows.
struct Accuracy {
  double residual = 0;                       ///< |b - A x| beside |b|
  std::optional<double> error = {};          ///< |x - exact| over the root of the rows
  std::optional<double> relative_error = {}; ///< |x - exact| beside |exact|, or as it is if that is 0
};

/// A solve, which is judged.
struct Answer {
  Outcome outcome;
  Vector solution;                                     ///< own values
  std::vector<std::pair<double, double>> coefficients; ///< alpha and beta of its iterations
  /// Vectors that may be written to: one for own rows and ghosts, two for own rows. Those that are empty are made.
  std::array<Vector, 3> room = {};
};

/// Collective. Verifies a solve, in this order: matrix and right-hand side against the rows of `reference`; symmetry of
/// the matrix and of the preconditioner, null if there is none; the true residual against the recurrence's; |b| against
/// that by the solve's sums; the error where the solution is known. A solve without an iteration is inconclusive. What
/// is found is put into `found`. The lookup is of what the reference wants.
///
/// Values of other ranks come by their numbers in the whole matrix over `baseline`, all ranks by backend `raw`; neither
/// the exchange of the solve nor its sums take part. The preconditioner's own exchange does.
miniapp::Verification verify(const comm::Communicator& baseline, const LinearSystem&, const ReferenceRows& reference,
                             const RowLookup&, const Matrix&, const Space& compute, const Options&, const Answer&,
                             Preconditioner*, Accuracy* found = nullptr);

/// Collective. What a repeat begins with, in the rows of the reference, against the deck's guess; `found`: by the
/// lookup.
miniapp::Verification verify_start(const comm::Communicator&, const ReferenceRows&, const std::vector<double>& found);

/// Collective. Products with stored rows by the kernels of the solve, which sum on the way, against the textbook's
/// loop, bit for bit; nothing of rows that are not stored. x, for own rows and ghosts, and y are written to.
miniapp::Verification verify_kernel(const comm::Communicator&, const LinearSystem&, const Matrix&, const Space& compute,
                                    const Vector& x, const Vector& y);

/// Local. The coordinates of a row's point by the deck; none of a matrix file's.
std::vector<double> point_of(const Options&, const std::vector<std::int64_t>& extents, GlobalIndex row);

/// Local. Where a file has the value of a row.
std::vector<std::uint64_t> place_in_file(const std::vector<std::int64_t>& extents, GlobalIndex row);

} // namespace kontor::cg
