// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/problem.hpp"

namespace kontor::cg {

std::unique_ptr<Problem> make_problem(const Options& options, const miniapp::RunContext& context) {
  if (options.kind == ProblemKind::fe_heat) return make_fe_heat(options, context);
  if (options.kind == ProblemKind::matrix_market) return make_matrix_market(options, context);
  return make_stencil(options, context);
}

} // namespace kontor::cg
