// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

/// The hexahedron by the book: integrals of shape functions by Gauss points, where the kernels have formulas for them.
namespace kontor::element {

using Point = std::array<double, 3>;
using CornerPoints = std::array<Point, 8>;

struct PlainElement {
  double volume = 0;
  CornerPoints gradient{};                      ///< integral of the derivatives of each shape function
  double squares = 0;                           ///< of all of them, summed
  std::array<std::array<double, 8>, 4> gamma{}; ///< hourglass shape vectors: (y z, z x, x y, x y z) at corners
};

/// Local. Corners at -1 and 1; two Gauss points along each axis are exact for these integrals.
PlainElement integrate_element(const CornerPoints&);

} // namespace kontor::element
