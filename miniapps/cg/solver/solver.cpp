// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/solver.hpp"

namespace kontor::cg {

std::unique_ptr<Solver> make_solver(const Workspace& work) {
  switch (work.options.method) {
  case Method::merged: return make_merged(work);
  case Method::pipelined: return make_pipelined(work);
  case Method::persistent: return make_persistent(work);
  case Method::classic: break;
  }
  return make_classic(work);
}

} // namespace kontor::cg
