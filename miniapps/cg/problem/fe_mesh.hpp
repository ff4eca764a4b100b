// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/options.hpp"
#include "cg/problem/box_rows.hpp"

#include <Kokkos_Core.hpp>

/// The points of a rank and the elements around them, for kernels.
namespace kontor::cg {

/// Which of the 27 points around a point, itself included, its row has entries for: a box of offsets.
struct Neighbours {
  int begin[3]; ///< -1, 0 or 1 along x, y, z
  int end[3];

  KOKKOS_FUNCTION int extent(int axis) const { return end[axis] - begin[axis]; }
  KOKKOS_FUNCTION int count() const { return extent(0) * extent(1) * extent(2); }
  KOKKOS_FUNCTION bool has(int dx, int dy, int dz) const {
    return dx >= begin[0] && dx < end[0] && dy >= begin[1] && dy < end[1] && dz >= begin[2] && dz < end[2];
  }
};

/// A rank's points, by their indices in its block, with one layer around it. Element e of an axis lies between the
/// points e - 1 and e, so point i touches the elements i and i + 1; each rank has all that touch its points. What lies
/// outside of the box has no rows and conductivity 0.
struct FeMesh {
  PointRows rows;
  int extents[3];    ///< own points along x, y, z
  int free_begin[3]; ///< the points whose temperature is not given are a box: this, clipped to the layer
  int free_end[3];

  KOKKOS_FUNCTION LocalIndex row(int i, int j, int k) const { return rows(k + 1, j + 1, i + 1); }
  /// Whether the temperature is given there, or there is no such point.
  KOKKOS_FUNCTION bool fixed(int i, int j, int k) const {
    return i < free_begin[0] || i >= free_end[0] || j < free_begin[1] || j >= free_end[1] || k < free_begin[2] ||
           k >= free_end[2];
  }
  /// The entries of a row: all free points around; of a fixed point itself only.
  KOKKOS_FUNCTION Neighbours neighbours(int i, int j, int k) const {
    if (fixed(i, j, k)) return {{0, 0, 0}, {1, 1, 1}};
    Neighbours n;
    const int point[] = {i, j, k};
    for (int axis = 0; axis < 3; ++axis) {
      n.begin[axis] = point[axis] > free_begin[axis] ? -1 : 0;
      n.end[axis] = point[axis] + 1 < free_end[axis] ? 2 : 1;
    }
    return n;
  }
};

/// Local.
FeMesh make_fe_mesh(const BoxRows&, const FaceOptions& faces);

/// Values in the Gauss points of the elements of a mesh: (z, y, Gauss point, x). Elements outside of the box have 0,
/// and there are some more of them along x than points touch, so that kernels go by whole lanes.
using GaussValues = Kokkos::View<double****, Kokkos::LayoutRight>;

/// Points along x that a kernel computes at a time.
inline constexpr int fe_lanes = device::kernels_on_host ? 8 : 1;
inline int fe_blocks(int points) { return (points + fe_lanes - 1) / fe_lanes; }

/// Local, waits. f in the Gauss points of the elements around a block of points.
GaussValues at_gauss_points(const std::string& label, const grid::Block& points, const grid::DeckFunction& f,
                            grid::FiniteCheck&);

} // namespace kontor::cg
