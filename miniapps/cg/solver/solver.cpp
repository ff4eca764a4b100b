// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/solver.hpp"

namespace kontor::cg {

std::string_view words(Ending ending) {
  switch (ending) {
  case Ending::converged: return "converged";
  case Ending::all_iterations: return "all iterations made";
  case Ending::limit: return "not converged within solver.max_iterations";
  case Ending::indefinite: return "the matrix is not positive definite";
  case Ending::not_finite: return "a number is not finite";
  }
  return "";
}

std::unique_ptr<Solver> make_solver(const Workspace& work) {
  return make_classic(work);
}

} // namespace kontor::cg
