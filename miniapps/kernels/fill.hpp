// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/bench.hpp"

#include <Kokkos_ScatterView.hpp>

/// Trilinear finite elements: the matrix of each element, and the matrix of the mesh that they add up to.
namespace kontor::kernels {

using ElementMatrices = Kokkos::View<double* [8][8]>;
using Entries = Kokkos::View<double*>; ///< of the matrix: 27 slots a row

/// What kernels know of the mesh. Nodes of an element are numbered x + 2 y + 4 z.
struct Mesh {
  Kokkos::View<double* [3]> coordinates; ///< (node, axis)
  Kokkos::View<int* [8]> nodes;          ///< (element, its node)
  Kokkos::View<int* [8][8]> slots;       ///< (element, its node, another one): where the entry is
  Kokkos::View<int* [8]> elements;       ///< (row, a): the element whose node a it is, or -1
};

/// The integrals of grad N_a . grad N_b, in 2 x 2 x 2 Gauss points; x(node, axis).
KOKKOS_INLINE_FUNCTION void stiffness(const double (&x)[8][3], double (&k)[8][8]) {
  constexpr double near = 0.21132486540518711775; // of the point, to its node
  for (auto& row : k)
    for (auto& entry : row) entry = 0;
  for (int g = 0; g < 8; ++g) {
    double slope[8][3], jacobian[3][3] = {}, cofactor[3][3], gradient[8][3];
    for (int a = 0; a < 8; ++a)
      for (int d = 0; d < 3; ++d) {
        slope[a][d] = (a >> d & 1) ? 1 : -1;
        for (int e = 0; e < 3; ++e)
          if (e != d) slope[a][d] *= ((a ^ g) >> e & 1) ? near : 1 - near;
        for (int i = 0; i < 3; ++i) jacobian[i][d] += x[a][i] * slope[a][d];
      }
    for (int i = 0, j = 1, l = 2; i < 3; j = l, l = i++)
      for (int d = 0, e = 1, f = 2; d < 3; e = f, f = d++)
        cofactor[i][d] = jacobian[j][e] * jacobian[l][f] - jacobian[j][f] * jacobian[l][e];
    const double det =
        jacobian[0][0] * cofactor[0][0] + jacobian[0][1] * cofactor[0][1] + jacobian[0][2] * cofactor[0][2];
    for (int a = 0; a < 8; ++a)
      for (int i = 0; i < 3; ++i)
        gradient[a][i] =
            (cofactor[i][0] * slope[a][0] + cofactor[i][1] * slope[a][1] + cofactor[i][2] * slope[a][2]) / det;
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b)
        k[a][b] +=
            det / 8 *
            (gradient[a][0] * gradient[b][0] + gradient[a][1] * gradient[b][1] + gradient[a][2] * gradient[b][2]);
  }
}

inline void compute_elements(const Mesh& mesh, const ElementMatrices& matrices) {
  Kokkos::parallel_for(
      "kernels/compute elements", Range(0, matrices.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        double x[8][3], k[8][8];
        for (int a = 0; a < 8; ++a)
          for (int i = 0; i < 3; ++i) x[a][i] = mesh.coordinates(mesh.nodes(e, a), i);
        stiffness(x, k);
        for (int a = 0; a < 8; ++a)
          for (int b = 0; b < 8; ++b) matrices(e, a, b) = k[a][b];
      });
}

/// A row is a thread's, which gathers from the elements around it.
inline void fill_by_rows(const Mesh& mesh, const ElementMatrices& matrices, const Entries& entries) {
  Kokkos::parallel_for(
      "kernels/fill by rows", Range(0, mesh.elements.extent(0)), KOKKOS_LAMBDA(const std::int64_t row) {
        for (int slot = 0; slot < 27; ++slot) entries(27 * row + slot) = 0;
        for (int a = 0; a < 8; ++a) {
          const auto e = mesh.elements(row, a);
          for (int b = 0; b < 8 && e >= 0; ++b) entries(mesh.slots(e, a, b)) += matrices(e, a, b);
        }
      });
}

/// An element is a thread's, which adds to entries that others add to.
inline void fill_atomically(const Mesh& mesh, const ElementMatrices& matrices, const Entries& entries) {
  Kokkos::deep_copy(Space(), entries, 0.0);
  Kokkos::parallel_for(
      "kernels/fill atomically", Range(0, matrices.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        for (int a = 0; a < 8; ++a)
          for (int b = 0; b < 8; ++b) Kokkos::atomic_add(&entries(mesh.slots(e, a, b)), matrices(e, a, b));
      });
}

/// The same; a ScatterView chooses between copies and atomic additions.
template <class Scatter>
void fill_by_scatter_view(const Mesh& mesh, const ElementMatrices& matrices, Entries entries, Scatter scatter) {
  Kokkos::deep_copy(Space(), entries, 0.0);
  scatter.reset_except(entries);
  Kokkos::parallel_for(
      "kernels/fill by ScatterView", Range(0, matrices.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        auto access = scatter.access();
        for (int a = 0; a < 8; ++a)
          for (int b = 0; b < 8; ++b) access(mesh.slots(e, a, b)) += matrices(e, a, b);
      });
  Kokkos::Experimental::contribute(entries, scatter);
}

} // namespace kontor::kernels
