// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kontor::cg {

/// Why an iteration ended.
enum class StopReason {
  converged,                 ///< the residual has reached the tolerance
  exact_guess,               ///< the guess had reached it before the first iteration
  zero_rhs,                  ///< b = 0, so x = 0 without an iteration, whatever the guess
  all_iterations,            ///< as many as were asked for, with tolerance 0
  limit,                     ///< max_iterations, short of the tolerance
  indefinite,                ///< p.A p <= 0, or a diagonal entry is: the matrix is not positive definite
  indefinite_preconditioner, ///< r.M r < 0: the preconditioner is not positive definite
  breakdown,                 ///< no step length, though neither of these is certain: rounding or underflow
  stagnation,                ///< no smaller residual for too many iterations
  not_finite,                ///< a number overflowed, or is not a number
};

/// Whether x is what was asked for.
bool succeeded(StopReason);
/// As a sentence, and as a word for programs.
std::string_view words(StopReason);
std::string_view keyword(StopReason);

struct Outcome {
  StopReason ending = StopReason::limit;
  std::int64_t iterations = 0;
  double residual = 0; ///< the recurrence's, beside the right-hand side
  double rhs = 0;      ///< norm of the right-hand side, by the sums of the solve
};

/// "converged after 12 iterations, residual 3.1e-09".
std::string words(const Outcome&);

} // namespace kontor::cg
