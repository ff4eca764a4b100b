// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/preconditioner/preconditioner.hpp"

namespace kontor::cg {

std::unique_ptr<Preconditioner> make_preconditioner(const Workspace& work) {
  switch (work.options.preconditioner) {
  case PreconditionerKind::jacobi: return make_jacobi(work);
  case PreconditionerKind::chebyshev: return make_chebyshev(work);
  case PreconditionerKind::gauss_seidel: return make_gauss_seidel(work);
  case PreconditionerKind::none: break;
  }
  return nullptr;
}

} // namespace kontor::cg
