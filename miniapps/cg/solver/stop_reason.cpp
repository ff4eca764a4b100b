// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/stop_reason.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kontor::cg {

bool succeeded(StopReason ending) {
  return ending <= StopReason::all_iterations;
}

std::string_view words(StopReason ending) {
  switch (ending) {
  case StopReason::converged: return "converged";
  case StopReason::exact_guess: return "the guess is a solution";
  case StopReason::zero_rhs: return "the right-hand side is 0, so x is";
  case StopReason::all_iterations: return "all iterations made";
  case StopReason::limit: return "not converged within solver.max_iterations";
  case StopReason::indefinite: return "the matrix is not positive definite";
  case StopReason::indefinite_preconditioner: return "the preconditioner is not positive definite";
  case StopReason::breakdown:
    return "breakdown: p.A p is not above 0, so the matrix is not positive definite, or numbers are rounded "
           "or underflow";
  case StopReason::stagnation: return "stagnation: no smaller residual for solver.stagnation iterations";
  case StopReason::not_finite: return "a number is not finite";
  }
  return "";
}

std::string_view keyword(StopReason ending) {
  switch (ending) {
  case StopReason::converged: return "converged";
  case StopReason::exact_guess: return "guess_is_solution";
  case StopReason::zero_rhs: return "zero_right_hand_side";
  case StopReason::all_iterations: return "iterations_made";
  case StopReason::limit: return "not_converged";
  case StopReason::indefinite: return "not_positive_definite";
  case StopReason::indefinite_preconditioner: return "preconditioner_not_positive_definite";
  case StopReason::breakdown: return "breakdown";
  case StopReason::stagnation: return "stagnation";
  case StopReason::not_finite: return "not_finite";
  }
  return "";
}

std::string words(const Outcome& outcome) {
  return fmt::format("{} after {} iteration{}, residual {:.2e}", words(outcome.ending), outcome.iterations,
                     outcome.iterations == 1 ? "" : "s", std::abs(outcome.residual)); // nan without a sign
}

} // namespace kontor::cg
