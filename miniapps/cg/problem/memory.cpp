// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/memory.hpp"

#include "cg/matrix/matrix_free.hpp"
#include "cg/problem/element.hpp"
#include "grid/functions.hpp"
#include "stepping/device.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kontor::cg {
namespace {

using miniapp::Allocation;

constexpr double of_value = sizeof(double), of_index = sizeof(LocalIndex), of_offset = sizeof(std::int64_t);

/// Whether M is applied by itself, not by the loops of updates.
bool applies(const SolverOptions& o) {
  const bool scaled = o.sums == SumKind::fast && o.preconditioner == PreconditionerKind::jacobi;
  return o.preconditioner != PreconditionerKind::none && !scaled;
}

/// What the preconditioner has beside the matrix: own vectors, and bytes of a copy of the matrix.
struct Kept {
  double vectors = 0;
  double copy = 0;
};
Kept kept_by(const SolverOptions& o, const PartSize& part) {
  switch (o.preconditioner) {
  case PreconditionerKind::none: break;
  case PreconditionerKind::jacobi: return {.vectors = 1};    // the diagonal
  case PreconditionerKind::chebyshev: return {.vectors = 4}; // and z, d, A z
  case PreconditionerKind::gauss_seidel:                     // own columns; the same in the order of colours
    return {.vectors = 3,
            .copy = 2 * (part.entries * (of_value + of_index) + part.rows * of_offset) + 4 * part.rows * of_index};
  }
  return {};
}

/// Whether a kernel of many iterations may be tried, which multiplies with two vectors in turn.
bool may_be_one_kernel(const SolverOptions& o) {
  const stepping::Launch launch = o.launch;
  return stepping::on_device && o.method != Method::classic &&
         (launch == stepping::Launch::automatic || launch == stepping::Launch::persistent);
}

/// Own values: x and the one that the matrix is multiplied with among them, but neither b nor what the preconditioner
/// has.
int vectors_of(const SolverOptions& o) {
  const int one = o.preconditioner != PreconditionerKind::none ? 1 : 0, applied = applies(o) ? 1 : 0;
  switch (o.method) {
  case Method::classic: return 4 + applied;
  case Method::merged: return 5 + one;
  case Method::pipelined: return 7 + one + 2 * applied + (may_be_one_kernel(o) ? 1 : 0);
  }
  return 0;
}

/// Chunks of format sell; columns take seldom more than 2.
double chunks(const PartSize& part) { return part.entries * (of_value + 2) + part.rows * (2 * of_index + 2); }

/// Another format of the matrix, vectors, what the preconditioner keeps.
std::vector<Allocation> views_of_solve(const SolverOptions& o, const PartSize& part) {
  const double runs = (part.runs * 4 + part.patterns * part.stencil * 2) * of_index;
  double vectors = vectors_of(o);
  if (o.preconditioner == PreconditionerKind::chebyshev) // which begins with a small solve of its own
    vectors = std::max(vectors, 2. + 8);
  const bool lends_all = o.preconditioner != PreconditionerKind::none || o.method != Method::merged; // Solver::lent()
  const auto kept = kept_by(o, part);
  return {{"cg/sell", o.format == Format::sell ? chunks(part) : 0},
          {"cg/runs", o.format == Format::matrix_free ? runs : 0},
          {fmt::format("cg/{:.0f} vectors", vectors), (vectors * part.rows + part.ghosts) * of_value},
          {"cg/words of other ranks", may_be_one_kernel(o) ? 4 * part.ghosts * of_value : 0}, // see Peers
          {"cg/preconditioner", kept.vectors * part.rows * of_value + kept.copy},
          {"cg/to verify with", (lends_all ? 1 : 2) * part.rows * of_value}};
}

} // namespace

double working_set(const SolverOptions& o, const PartSize& part, double product) {
  const auto kept = kept_by(o, part);
  return product + (vectors_of(o) - 2 + kept.vectors) * part.rows * of_value + kept.copy;
}

std::vector<Allocation> views_of_rank(const SolverOptions& options, const PartSize& part,
                                      const std::vector<Allocation>& kept, const std::vector<Allocation>& built) {
  const double stored = needs_matrix(options) && !only_chunks(options) ? 1 : 0;
  std::vector<Allocation> views{{"cg/values", stored * part.entries * of_value},
                                {"cg/columns", stored * part.entries * of_index},
                                {"cg/offsets", stored * part.rows * of_offset},
                                {"cg/global", (part.rows + part.ghosts) * sizeof(GlobalIndex)},
                                {"cg/b", part.rows * of_value}};
  views.insert(views.end(), kept.begin(), kept.end());
  const auto solve = views_of_solve(options, part);
  auto build = built;
  if (only_chunks(options)) {
    build.push_back({"cg/sell", chunks(part)});
    if (part.copied) build.push_back({"cg/values, offsets", part.entries * of_value + part.rows * of_offset});
  }
  const auto& more = miniapp::total_bytes(build) > miniapp::total_bytes(solve) ? build : solve;
  views.insert(views.end(), more.begin(), more.end());
  return views;
}

std::vector<Allocation> views_of_box(const Options& options, const grid::Block& block) {
  double rows = 1, elements = 1, around = 1, with_ghosts = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto n = static_cast<double>(block.extents[axis]);
    rows *= n;
    elements *= n + 1;
    around *= n + 2;
    with_ghosts *= options.process_grid[axis] > 1 ? n + 2 : n;
  }
  const Allocation point_rows{"cg/point rows", around * sizeof(LocalIndex)};
  if (options.kind == ProblemKind::fe_heat)
    return views_of_rank(options.solver, {.rows = rows, .ghosts = around - rows, .entries = 27 * rows}, // at most
                         {{"cg/initial, solution", (options.fe_heat.exact ? 2 : 1) * rows * of_value}},
                         {point_rows, {"cg/conductivity", elements * element_nodes * of_value}});
  const auto most = most_runs(block.extents, options.process_grid);
  return views_of_rank(options.solver,
                       {.rows = rows,
                        .ghosts = with_ghosts - rows,
                        .entries = options.stencil.size * rows,
                        .runs = most.runs,
                        .patterns = most.patterns,
                        .stencil = options.stencil.size},
                       {{"cg/initial", grid::DeckFunction(options.initial).zero() ? 0 : rows * of_value}},
                       {point_rows, {"cg/exact", around * of_value}, {"cg/solution", rows * of_value}});
}

} // namespace kontor::cg
