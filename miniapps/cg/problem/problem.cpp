// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/problem.hpp"

#include "machine/huge_pages.hpp"

namespace kontor::cg {

RowValues LinearSystem::make_room(const SolverOptions& options) {
  const auto entries = matrix.columns.extent(0);
  if (!only_chunks(options)) {
    matrix.values = Kokkos::View<double*>(Kokkos::view_alloc("cg/values", Kokkos::WithoutInitializing), entries);
    miniapp::use_huge_pages(matrix.values);
    return RowValues(matrix);
  }
  unassembled = static_cast<std::int64_t>(entries);
  chunks = make_chunks(matrix, partition.interior, partition.own + partition.ghosts);
  matrix = {};
  cg::make_room(*chunks);
  return RowValues(*chunks);
}

std::unique_ptr<Problem> make_problem(const Options& options, const miniapp::RunContext& context) {
  if (options.kind == ProblemKind::fe_heat) return make_fe_heat(options, context);
  if (options.kind == ProblemKind::matrix_market) return make_matrix_market(options, context);
  return make_stencil(options, context);
}

} // namespace kontor::cg
