// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/row_values.hpp"
#include "cg/problem/element.hpp"
#include "cg/problem/fe_mesh.hpp"

/// From elements to the rows of a rank. All functions are local, and queue their work on the default instance.
namespace kontor::cg {

/// Offsets and columns.
CompressedRows make_structure(const FeMesh&);

/// Values of the matrix, and the right-hand side, row by row, each from the elements around it: no row is written
/// twice, so nothing is atomic. Sums run over the elements in the order of their numbers in the whole grid.
void assemble_matrix(const FeMesh&, const ElementIntegrals&, const GaussValues& conductivity, const RowValues&);
void assemble_load(const FeMesh&, const ElementIntegrals&, const GaussValues& source, const Vector& rhs);

/// The entry for the point at an offset (x, y, z) from point (i, j, k), in the same order of sums. For a kernel.
KOKKOS_INLINE_FUNCTION double matrix_entry(const ElementIntegrals& integrals, const GaussValues& conductivity, int i,
                                           int j, int k, const int (&offset)[3]) {
  double sum = 0;
  for (int e = 0; e < element_nodes; ++e) {
    int across = 0; // bits of the axes along which the two nodes differ
    bool shared = true;
    for (int axis = 0; axis < 3; ++axis) {
      if (offset[axis] == 0) continue;
      across |= 1 << axis;
      shared = shared && (offset[axis] > 0) == ((e >> axis & 1) != 0);
    }
    if (!shared) continue;
    const int a = element_nodes - 1 - e;
    sum += element_entry(integrals, &conductivity(k + (e >> 2), j + (e >> 1 & 1), 0, i + (e & 1)),
                         conductivity.stride(2), a, a ^ across);
  }
  return sum;
}

} // namespace kontor::cg
