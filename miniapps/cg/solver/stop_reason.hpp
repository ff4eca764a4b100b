// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
inline bool succeeded(StopReason ending) { return ending <= StopReason::all_iterations; }

struct NamedReason {
  std::string_view keyword, words;
};

/// In the order of the enumerators.
inline constexpr NamedReason named_reasons[] = {
    {"converged", "converged"},
    {"guess_is_solution", "the guess is a solution"},
    {"zero_right_hand_side", "the right-hand side is 0, so x is"},
    {"iterations_made", "all iterations made"},
    {"not_converged", "not converged within solver.max_iterations"},
    {"not_positive_definite", "the matrix is not positive definite"},
    {"preconditioner_not_positive_definite", "the preconditioner is not positive definite"},
    {"breakdown", "breakdown: p.A p is not above 0, so the matrix is not positive definite, or numbers are "
                  "rounded or underflow"},
    {"stagnation", "stagnation: no smaller residual for solver.stagnation iterations"},
    {"not_finite", "a number is not finite"},
};
static_assert(std::size(named_reasons) == static_cast<std::size_t>(StopReason::not_finite) + 1);

/// As a sentence, and as a word for programs.
inline std::string_view words(StopReason ending) { return named_reasons[static_cast<std::size_t>(ending)].words; }
inline std::string_view keyword(StopReason ending) { return named_reasons[static_cast<std::size_t>(ending)].keyword; }

struct Outcome {
  StopReason ending = StopReason::limit;
  std::int64_t iterations = 0;
  double residual = 0; ///< the recurrence's, beside the right-hand side
  double rhs = 0;      ///< norm of the right-hand side, by the sums of the solve
};

/// "converged after 12 iterations, residual 3.1e-09".
inline std::string words(const Outcome& outcome) {
  return fmt::format("{} after {} iteration{}, residual {:.2e}", words(outcome.ending), outcome.iterations,
                     outcome.iterations == 1 ? "" : "s", std::abs(outcome.residual)); // nan without a sign
}

} // namespace kontor::cg
