// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/memory.hpp"

#include "cg/matrix/matrix.hpp"
#include "stepping/device.hpp"

#include <algorithm>

namespace kontor::cg {
namespace {

constexpr double of_value = sizeof(double), of_index = sizeof(LocalIndex), of_offset = sizeof(std::int64_t);

/// Whether M is applied by itself, not by the loops of updates.
bool applies(const SolverOptions& o) {
  const bool scaled = o.sums == SumKind::any_order && o.preconditioner == PreconditionerKind::jacobi;
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

} // namespace

double working_set(const SolverOptions& o, const PartSize& part, double product) {
  const auto kept = kept_by(o, part);
  return product + (vectors_of(o) - 2 + kept.vectors) * part.rows * of_value + kept.copy;
}

double bytes_of_rank(const SolverOptions& o, const PartSize& part) {
  const double rows = of_offset + 2 * of_index; // csr's, or sell's with its order
  double matrix = part.entries;                 // matrix_free
  if (o.format != Format::matrix_free || needs_matrix(o))
    matrix = part.entries * (of_value + of_index) + part.rows * rows;
  if (o.format == Format::sell && !only_chunks(o)) matrix += part.entries * (of_value + 2);
  const auto kept = kept_by(o, part);
  double vectors = vectors_of(o);
  if (o.preconditioner == PreconditionerKind::chebyshev) vectors = std::max(vectors, 2. + 8); // its own small solve
  constexpr double others = 5; // b, global numbers, the initial guess, the solution, what it is verified with
  const double words = may_be_one_kernel(o) ? 4 : 0; // of other ranks, see Peers
  return matrix + kept.copy + of_value * ((vectors + kept.vectors + others) * part.rows + (2 + words) * part.ghosts);
}

double bytes_of_box(const Options& options, const grid::Block& block) {
  double rows = 1, around = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto n = static_cast<double>(block.extents[axis]);
    rows *= n;
    around *= n + 2;
  }
  const double entries = (options.kind == ProblemKind::fe_heat ? 27 : options.stencil.size) * rows;
  return bytes_of_rank(options.solver, {.rows = rows, .ghosts = around - rows, .entries = entries});
}

} // namespace kontor::cg
