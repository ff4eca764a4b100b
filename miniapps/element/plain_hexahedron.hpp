// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cmath>

/// The hexahedron by the book: integrals of shape functions by Gauss points, where the kernels have formulas for them.
namespace kontor::element {

using Point = std::array<double, 3>;
using CornerPoints = std::array<Point, 8>;

struct PlainElement {
  double volume = 0;
  CornerPoints gradient{};                      ///< integral of the derivatives of each shape function
  double squares = 0;                           ///< of all of them, summed
  std::array<std::array<double, 8>, 4> gamma{}; ///< hourglass shape vectors: (y z, z x, x y, x y z) at corners

  /// A length: that of a cube's edge, but for a factor.
  double size() const { return volume / std::sqrt(squares); }
};

/// Local. Corners at -1 and 1; two Gauss points along each axis are exact for these integrals.
PlainElement integrate_element(const CornerPoints&);

/// Local. Forces on the corners of an element with stress s in the frame that is turned by r (tensor.hpp), and with
/// this resistance to each hourglass mode.
CornerPoints plain_forces(const PlainElement&, const double (&r)[9], const double (&s)[6],
                          const std::array<Point, 4>& resistance);

/// Invariants of a symmetric tensor: its trace, and the sum of the squares of its 9 entries.
struct Invariants {
  double trace, squares;
};
inline Invariants invariants_of(const double (&s)[6]) {
  return {s[0] + s[1] + s[2], s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 2 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5])};
}

inline double norm(const Point& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }
inline double distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

} // namespace kontor::element
