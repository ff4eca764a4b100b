// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/ending.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kontor::cg {

bool succeeded(Ending ending) {
  return ending <= Ending::all_iterations;
}

std::string_view words(Ending ending) {
  switch (ending) {
  case Ending::converged: return "converged";
  case Ending::exact_guess: return "the guess is a solution";
  case Ending::zero_rhs: return "the right-hand side is 0, so x is";
  case Ending::all_iterations: return "all iterations made";
  case Ending::limit: return "not converged within solver.max_iterations";
  case Ending::indefinite: return "the matrix is not positive definite";
  case Ending::indefinite_preconditioner: return "the preconditioner is not positive definite";
  case Ending::breakdown:
    return "breakdown: p.A p is not above 0, so the matrix is not positive definite, or numbers are rounded "
           "or underflow";
  case Ending::stagnation: return "stagnation: no smaller residual for solver.stagnation iterations";
  case Ending::not_finite: return "a number is not finite";
  }
  return "";
}

std::string_view keyword(Ending ending) {
  switch (ending) {
  case Ending::converged: return "converged";
  case Ending::exact_guess: return "guess_is_solution";
  case Ending::zero_rhs: return "zero_right_hand_side";
  case Ending::all_iterations: return "iterations_made";
  case Ending::limit: return "not_converged";
  case Ending::indefinite: return "not_positive_definite";
  case Ending::indefinite_preconditioner: return "preconditioner_not_positive_definite";
  case Ending::breakdown: return "breakdown";
  case Ending::stagnation: return "stagnation";
  case Ending::not_finite: return "not_finite";
  }
  return "";
}

std::string words(const Outcome& outcome) {
  return fmt::format("{} after {} iteration{}, residual {:.2e}", words(outcome.ending), outcome.iterations,
                     outcome.iterations == 1 ? "" : "s", std::abs(outcome.residual)); // nan without a sign
}

} // namespace kontor::cg
