// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/lanes.hpp"
#include "element/plain_hexahedron.hpp"

/// The hexahedron with one point of integration: D. P. Flanagan, T. Belytschko, International Journal for Numerical
/// Methods in Engineering 17, 1981. Corners 0 to 3 go around the lower face, 4 to 7 lie above them.
namespace kontor::element {

/// Corner of the unit cube at (x, y, z), each 0 or 1.
KOKKOS_INLINE_FUNCTION constexpr int corner_at(int x, int y, int z) { return 4 * z + (y == 0 ? x : 3 - x); }
KOKKOS_INLINE_FUNCTION constexpr int corner_y(int corner) { return corner % 4 / 2; }
KOKKOS_INLINE_FUNCTION constexpr int corner_x(int corner) { return corner % 4 == 1 || corner % 4 == 2 ? 1 : 0; }
KOKKOS_INLINE_FUNCTION constexpr int corner_z(int corner) { return corner / 4; }

/// The corners that share an edge with a corner, in a right-handed order, and those across its faces.
struct CornerNeighbours {
  int a, b, c, ab, bc, ca;
};
KOKKOS_INLINE_FUNCTION constexpr CornerNeighbours neighbours_of(int corner) {
  const int x = corner_x(corner), y = corner_y(corner), z = corner_z(corner);
  const int along_x = corner_at(1 - x, y, z), along_y = corner_at(x, 1 - y, z), along_z = corner_at(x, y, 1 - z);
  const int xy = corner_at(1 - x, 1 - y, z), yz = corner_at(x, 1 - y, 1 - z), zx = corner_at(1 - x, y, 1 - z);
  if ((x + y + z) % 2 == 0) return {along_x, along_y, along_z, xy, yz, zx};
  return {along_y, along_x, along_z, xy, zx, yz};
}

/// Hourglass base vector `mode`, 0 to 3, at a corner: 1 or -1.
KOKKOS_INLINE_FUNCTION constexpr int hourglass_base(int mode, int corner) {
  const int x = 2 * corner_x(corner) - 1, y = 2 * corner_y(corner) - 1, z = 2 * corner_z(corner) - 1;
  return mode == 0 ? y * z : mode == 1 ? z * x : mode == 2 ? x * y : x * y * z;
}

/// Three numbers at each of the 8 corners: coordinates, velocities, forces.
template <class V>
struct Corners {
  V at[3][8];
};

/// Makes coordinates relative to corner 0, of which differences far from the origin lose no more digits.
template <class V>
KOKKOS_INLINE_FUNCTION void shift_to_corner(Corners<V>& x) {
  unroll<3>([&](auto i) {
    const V origin = x.at[i][0];
    unroll<8>([&](auto corner) { x.at[i][corner] -= origin; });
  });
}

/// Adds or subtracts.
template <bool subtract, class V>
KOKKOS_INLINE_FUNCTION void add(V& sum, const V& value) {
  if constexpr (subtract)
    sum -= value;
  else
    sum += value;
}

/// The difference of two corners across a face, as one of the 12 diagonals of faces or its opposite.
struct Diagonal {
  int along; ///< axis of the face, 0 to 2, and which of its two directions: 2 axis + direction
  int side;  ///< of the element, 0 or 1
  bool opposite;
};
KOKKOS_INLINE_FUNCTION constexpr Diagonal diagonal_of(int to, int from) {
  const int t[3] = {corner_x(to), corner_y(to), corner_z(to)}, f[3] = {corner_x(from), corner_y(from), corner_z(from)};
  const int axis = t[0] == f[0] ? 0 : t[1] == f[1] ? 1 : 2, i = (axis + 1) % 3, j = (axis + 2) % 3;
  return {2 * axis + (t[i] == t[j] ? 1 : 0), t[axis], t[i] == 0};
}
/// The corner at an end of a diagonal: that with i = 1 first.
KOKKOS_INLINE_FUNCTION constexpr int corner_of_diagonal(int along, int side, bool first) {
  const int axis = along / 2, i = (axis + 1) % 3, j = (axis + 2) % 3;
  int at[3] = {};
  at[axis] = side;
  at[i] = first ? 1 : 0;
  at[j] = along % 2 == 1 ? at[i] : 1 - at[i];
  return corner_at(at[0], at[1], at[2]);
}

/// 12 b(axis, I), where b are the derivatives of the volume by the coordinates of corner I: Flanagan and Belytschko,
/// eq. 79, as sums over diagonals of faces. Their sum over corners is 0. 318 flops for the three axes.
template <int axis, class V>
KOKKOS_INLINE_FUNCTION void volume_gradient(const Corners<V>& x, V (&b)[8]) {
  const auto& y = x.at[(axis + 1) % 3];
  const auto& z = x.at[(axis + 2) % 3];
  V diagonal[6][2], both[6]; // of the two sides, which are added where opposite faces have the same direction
  unroll<6>([&](auto along) {
    unroll<2>([&](auto side) {
      diagonal[along][side] = z[corner_of_diagonal(along, side, true)] - z[corner_of_diagonal(along, side, false)];
    });
    both[along] = diagonal[along][0] + diagonal[along][1];
  });
  unroll<8>([&](auto corner) {
    constexpr auto n = neighbours_of(corner);
    constexpr int of_both[3][3] = {{n.a, n.c, n.b}, {n.b, n.a, n.c}, {n.c, n.b, n.a}};
    constexpr int of_one[3][3] = {{n.ab, n.a, n.b}, {n.bc, n.b, n.c}, {n.ca, n.c, n.a}};
    V sum = all_lanes<V>(0);
    unroll<3>([&](auto k) {
      constexpr auto d = diagonal_of(of_both[k][1], of_both[k][2]), e = diagonal_of(of_one[k][1], of_one[k][2]);
      add<d.opposite>(sum, y[of_both[k][0]] * both[d.along]);
      add<e.opposite>(sum, y[of_one[k][0]] * diagonal[e.along][e.side]);
    });
    b[corner] = sum;
  });
}

/// The sum of products over corners.
template <class V>
KOKKOS_INLINE_FUNCTION V dot(const V (&a)[8], const V (&b)[8]) {
  V sum = a[0] * b[0];
  unroll<7>([&](auto corner) { sum += a[corner + 1] * b[corner + 1]; });
  return sum;
}

/// Local. The volume of an element with these corners.
inline double volume(const CornerPoints& corners) {
  Corners<double> x;
  double b[8];
  for (int c = 0; c < 8; ++c)
    for (int d = 0; d < 3; ++d) x.at[d][c] = corners[c][d];
  shift_to_corner(x);
  volume_gradient<0>(x, b);
  return dot(x.at[0], b) / 12;
}

/// The sum of products with a hourglass base vector.
template <int mode, class V>
KOKKOS_INLINE_FUNCTION V with_base(const V (&a)[8]) {
  V sum = all_lanes<V>(0);
  unroll<8>([&](auto corner) { add<(hourglass_base(mode, corner) < 0)>(sum, a[corner]); });
  return sum;
}

} // namespace kontor::element
