// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/boundary.hpp"

namespace kontor::cg {
namespace {

/// The axes of a face, b < c, and its own one.
struct FaceAxes {
  int axis, b, c;
};
KOKKOS_INLINE_FUNCTION FaceAxes axes_of(int face) {
  const int axis = face / 2;
  return {axis, axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
}

struct ApplyBoundary {
  FeMesh mesh;
  ElementIntegrals integrals;
  GaussValues conductivity;
  FaceConditions faces;
  double spacing[3];
  RowValues matrix;
  Vector rhs;

  KOKKOS_FUNCTION void operator()(int k, int j, int i) const {
    const auto row = mesh.row(i, j, k);
    if (mesh.fixed(i, j, k))
      rhs(row) = matrix.row(row).next() * faces.temperature(i, j, k);
    else
      rhs(row) += fluxes(i, j, k) - fixed_part(i, j, k);
  }

  /// The integrals of flux times shape function over the elements of the faces that a point lies on.
  KOKKOS_FUNCTION double fluxes(int i, int j, int k) const {
    const int point[] = {i, j, k};
    double sum = 0;
    for (int face = 0; face < 6; ++face) {
      const auto axes = axes_of(face);
      if (faces.condition[face] != FaceCondition::flux || point[axes.axis] != faces.plane[face]) continue;
      const double weight = spacing[axes.b] * spacing[axes.c] / 4;
      for (int e = 0; e < 4; ++e) {
        const int a = 3 - e; // the node that the point is in this element
        for (int g = 0; g < 4; ++g)
          sum += faces.values[face](point[axes.c] + (e >> 1), point[axes.b] + (e & 1), g) *
                 (weight * shape(((g ^ a) & 1) != 0) * shape(((g ^ a) >> 1) != 0));
      }
    }
    return sum;
  }

  /// The sum of A_ij T_j over the fixed points around.
  KOKKOS_FUNCTION double fixed_part(int i, int j, int k) const {
    const auto free = mesh.neighbours(i, j, k);
    if (free.count() == 27) return 0;
    double sum = 0;
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          if (free.has(dx, dy, dz) || mesh.row(i + dx, j + dy, k + dz) < 0) continue;
          const double temperature = faces.temperature(i + dx, j + dy, k + dz);
          if (temperature == 0) continue;
          const int offset[] = {dx, dy, dz};
          sum += matrix_entry(integrals, conductivity, i, j, k, offset) * temperature;
        }
    return sum;
  }
};

/// f in the points of a face around the block, or in the Gauss points of its elements, in a rank's array.
FaceValues evaluate(const grid::Block& points, int face, std::int64_t plane, const grid::DeckFunction& f,
                    bool in_points, grid::FiniteCheck& finite) {
  const auto axes = axes_of(face);
  const auto extent = [&](int axis) { return points.extents[axis] + (in_points ? 2 : 1); };
  const FaceValues values("cg/face", extent(axes.c), extent(axes.b), in_points ? 1 : 4);
  const auto host = Kokkos::create_mirror_view(values);
  // Point or element s of the array is number offset - 1 + s of the grid.
  const auto inside = [&](int axis, std::int64_t s) {
    const auto number = points.offset[axis] - 1 + s;
    return number >= 0 && number < points.global[axis] - (in_points ? 0 : 1);
  };
  const auto coordinate = [&](int axis, std::int64_t s, int g) {
    const auto number = static_cast<double>(points.offset[axis] - 1 + s);
    return points.lower[axis] + (number + (in_points ? 0 : gauss_position(g))) * points.spacing[axis];
  };
  std::array<double, 3> at{};
  at[axes.axis] = points.coordinate(axes.axis, plane);
  for (std::int64_t c = 0; c < extent(axes.c); ++c)
    for (std::int64_t b = 0; b < extent(axes.b); ++b) {
      if (!inside(axes.c, c) || !inside(axes.b, b)) continue;
      for (int g = 0; g < (in_points ? 1 : 4); ++g) {
        at[axes.b] = coordinate(axes.b, b, g & 1);
        at[axes.c] = coordinate(axes.c, c, g >> 1);
        f.evaluate({at.data(), 1}, at[1], at[2], 0, {&host(c, b, g), 1}, finite);
      }
    }
  Kokkos::deep_copy(values, host);
  return values;
}

} // namespace

FaceConditions evaluate_faces(const grid::Block& points, const FaceOptions& options, grid::FiniteCheck& finite) {
  FaceConditions faces{};
  for (int face = 0; face < 6; ++face) {
    const int axis = face / 2;
    faces.condition[face] = options[face].condition;
    const auto plane = (face % 2 == 0 ? 0 : points.global[axis] - 1) - points.offset[axis];
    const bool near = plane >= -1 && plane <= points.extents[axis];
    faces.plane[face] = near ? static_cast<int>(plane) : -2; // no point's
    if (!near || options[face].condition == FaceCondition::insulated) continue;
    faces.values[face] = evaluate(points, face, plane, grid::DeckFunction(options[face].value),
                                  options[face].condition == FaceCondition::temperature, finite);
  }
  return faces;
}

void apply_boundary(const FeMesh& mesh, const ElementIntegrals& integrals, const GaussValues& conductivity,
                    const FaceConditions& faces, const std::array<double, 3>& spacing, const RowValues& matrix,
                    const Vector& rhs) {
  for_points("cg/boundary", mesh.extents,
             ApplyBoundary{mesh, integrals, conductivity, faces, {spacing[0], spacing[1], spacing[2]}, matrix, rhs});
}

void set_temperatures(const FeMesh& mesh, const FaceConditions& faces, const Vector& values) {
  for_points(
      "cg/temperatures", mesh.extents, KOKKOS_LAMBDA(int k, int j, int i) {
        if (mesh.fixed(i, j, k)) values(mesh.row(i, j, k)) = faces.temperature(i, j, k);
      });
}

} // namespace kontor::cg
