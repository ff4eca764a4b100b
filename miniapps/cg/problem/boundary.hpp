// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/problem/assembly.hpp"

/// The conditions on the faces of the box.
namespace kontor::cg {

/// On one face: temperatures in its points, (c + 1, b + 1, 0) of block indices along the face's axes b < c; or fluxes
/// in the Gauss points of its elements, (c, b, Gauss point), 0 outside of the box.
using FaceValues = Kokkos::View<double***, Kokkos::LayoutRight>;

/// What is given on the faces x_min, x_max, y_min, ..., where they are near a rank's points. Where faces with
/// temperatures meet, the last one in this order decides.
struct FaceConditions {
  FaceCondition condition[6];
  int plane[6]; ///< block index of the face's points
  FaceValues values[6];

  /// Of a point of one of these faces.
  KOKKOS_FUNCTION double temperature(int i, int j, int k) const {
    const int point[] = {i, j, k};
    for (int face = 5; face >= 0; --face) {
      const int axis = face / 2;
      if (condition[face] != FaceCondition::temperature || point[axis] != plane[face]) continue;
      return values[face](point[axis == 2 ? 1 : 2] + 1, point[axis == 0 ? 1 : 0] + 1, 0);
    }
    return 0;
  }
};

/// Local, waits. The deck's values around a block of points.
FaceConditions evaluate_faces(const grid::Block& points, const FaceOptions&, grid::FiniteCheck&);

/// Local; queues its work on the default instance. Adds fluxes to the right-hand side, and brings the given
/// temperatures to it: A_ij T_j is taken off row i of a free point for each fixed point j around it, and the row of a
/// fixed point, which has only its diagonal, becomes A_ii T_i = A_ii * (given temperature).
void apply_boundary(const FeMesh&, const ElementIntegrals&, const GaussValues& conductivity, const FaceConditions&,
                    const std::array<double, 3>& spacing, const RowValues&, const Vector& rhs);

/// Local; queues its work on the default instance. The given temperatures in the rows of fixed points.
void set_temperatures(const FeMesh&, const FaceConditions&, const Vector& values);

} // namespace kontor::cg
