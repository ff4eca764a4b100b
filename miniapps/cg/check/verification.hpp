// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/check/reference_rows.hpp"
#include "cg/options.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/problem/linear_system.hpp"
#include "cg/solver/stop_reason.hpp"
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
/// is found is put into `found`.
///
/// Values of other ranks come by their numbers in the whole matrix over `baseline`, all ranks by backend `raw`; neither
/// the exchange of the solve nor its sums take part. The preconditioner's own exchange does.
miniapp::Verification verify(const comm::Communicator& baseline, const LinearSystem&, ReferenceRows reference,
                             const Matrix&, const Space& compute, const Options&, const Answer&, Preconditioner*,
                             Accuracy* found = nullptr);

} // namespace kontor::cg
