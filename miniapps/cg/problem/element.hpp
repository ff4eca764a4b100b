// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <array>

/// Integrals over one element: a box with 8 nodes, trilinear shape functions and 2 x 2 x 2 Gauss points (T. J. R.
/// Hughes, "The finite element method", 2000, sections 3.5 and 3.8). Nodes and Gauss points are numbered x + 2 y + 4 z,
/// where each is 0 or 1.
///
/// On a uniform grid an integral depends on how node, other node and Gauss point lie to each other only, so bits that
/// tell them apart (`a ^ b`) are what tables go by.
namespace kontor::cg {

inline constexpr int element_nodes = 8;

/// Where Gauss point 0 or 1 of an axis lies: (1 -+ 1/sqrt(3)) / 2 of the element's width.
KOKKOS_INLINE_FUNCTION constexpr double gauss_position(int point) {
  return point == 0 ? 0.21132486540518711775 : 0.78867513459481288225;
}

/// A node's shape function along one axis in the Gauss point at its end, or at the other end.
KOKKOS_INLINE_FUNCTION constexpr double shape(bool other_end) { return gauss_position(other_end ? 0 : 1); }

/// The integrals of an element, by Gauss point. To be summed in the order of Gauss points.
struct ElementIntegrals {
  /// [g ^ a][a ^ b]: Gauss point g's part of the integral of grad N_a . grad N_b.
  double stiffness[element_nodes][element_nodes];
  /// [g ^ a]: of the integral of N_a.
  double load[element_nodes];
};

/// Local. Of an element with these widths along x, y and z.
inline ElementIntegrals element_integrals(const std::array<double, 3>& width) {
  ElementIntegrals integrals{};
  const double weight = width[0] * width[1] * width[2] / element_nodes;
  const auto bit = [](int bits, int axis) { return (bits >> axis & 1) != 0; };
  for (int g = 0; g < element_nodes; ++g) {
    integrals.load[g] = weight * (shape(bit(g, 0)) * shape(bit(g, 1)) * shape(bit(g, 2)));
    for (int b = 0; b < element_nodes; ++b) { // a is node 0
      double sum = 0;
      for (int axis = 0; axis < 3; ++axis) {
        double product = (bit(b, axis) ? -1 : 1) / (width[axis] * width[axis]); // of the derivatives
        for (int other = 0; other < 3; ++other)
          if (other != axis) product *= shape(bit(g, other)) * shape(bit(g ^ b, other));
        sum += product;
      }
      integrals.stiffness[g][b] = weight * sum;
    }
  }
  return integrals;
}

/// Entry (a, b) of an element's matrix, whose conductivity in Gauss point g is conductivity[g * stride].
KOKKOS_INLINE_FUNCTION double element_entry(const ElementIntegrals& integrals, const double* conductivity,
                                            std::size_t stride, int a, int b) {
  double sum = 0;
  for (int g = 0; g < element_nodes; ++g) sum += conductivity[g * stride] * integrals.stiffness[g ^ a][a ^ b];
  return sum;
}

} // namespace kontor::cg
