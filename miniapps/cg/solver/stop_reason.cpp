// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/stop_reason.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>

namespace kontor::cg {

namespace {

struct NamedReason {
  std::string_view keyword, words;
};

/// In the order of the enumerators.
constexpr NamedReason named_reasons[] = {
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

} // namespace

bool succeeded(StopReason ending) { return ending <= StopReason::all_iterations; }

std::string_view words(StopReason ending) { return named_reasons[static_cast<std::size_t>(ending)].words; }

std::string_view keyword(StopReason ending) { return named_reasons[static_cast<std::size_t>(ending)].keyword; }

std::string words(const Outcome& outcome) {
  return fmt::format("{} after {} iteration{}, residual {:.2e}", words(outcome.ending), outcome.iterations,
                     outcome.iterations == 1 ? "" : "s", std::abs(outcome.residual)); // nan without a sign
}

} // namespace kontor::cg
