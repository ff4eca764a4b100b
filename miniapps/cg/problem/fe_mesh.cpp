// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/fe_mesh.hpp"

#include "cg/problem/element.hpp"

#include <algorithm>

namespace kontor::cg {

FeMesh make_fe_mesh(const BoxRows& box, const FaceOptions& faces) {
  const auto& block = box.block;
  FeMesh mesh{.rows = point_rows(box), .extents = {}, .free_begin = {}, .free_end = {}};
  for (int axis = 0; axis < 3; ++axis) {
    const auto given = [&](int side) { return faces[2 * axis + side].condition == FaceCondition::temperature ? 1 : 0; };
    const auto n = block.extents[axis];
    mesh.extents[axis] = static_cast<int>(n);
    mesh.free_begin[axis] = static_cast<int>(std::max<std::int64_t>(given(0) - block.offset[axis], -1));
    mesh.free_end[axis] = static_cast<int>(std::min(block.global[axis] - given(1) - block.offset[axis], n + 1));
  }
  return mesh;
}

GaussValues at_gauss_points(const std::string& label, const grid::Block& points, const grid::DeckFunction& f,
                            grid::FiniteCheck& finite) {
  Kokkos::Array<int, 3> begin{}, end{}; // elements inside of the box
  for (int axis = 0; axis < 3; ++axis) {
    begin[axis] = points.offset[axis] == 0 ? 1 : 0;
    const auto n = points.extents[axis];
    end[axis] = static_cast<int>(points.offset[axis] + n == points.global[axis] ? n : n + 1);
  }
  const auto nx = fe_blocks(static_cast<int>(points.extents[0])) * fe_lanes + 1;
  const GaussValues values(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), points.extents[2] + 1,
                           points.extents[1] + 1, element_nodes, nx);
  // The same number on every rank for the same element.
  const auto coordinate = [&](int axis, int element, int g) {
    const auto number = static_cast<double>(points.offset[axis] + element - 1);
    return points.lower[axis] + (number + gauss_position(g)) * points.spacing[axis];
  };
  if (f.function.constant()) {
    const double x[] = {coordinate(0, begin[0], 0)};
    double value[1];
    f.evaluate(x, coordinate(1, begin[1], 0), coordinate(2, begin[2], 0), 0, value, finite);
    const double constant = value[0];
    Kokkos::parallel_for(
        "cg/constant at Gauss points",
        BoxPolicy({0, 0, 0}, {points.extents[2] + 1, points.extents[1] + 1, element_nodes}),
        KOKKOS_LAMBDA(int k, int j, int g) {
          const bool inside = k >= begin[2] && k < end[2] && j >= begin[1] && j < end[1];
          const auto n = static_cast<int>(values.extent(3));
          double* const line = &values(k, j, g, 0);
          for (int i = 0; i < n; ++i) line[i] = inside && i >= begin[0] && i < end[0] ? constant : 0;
        });
    return values;
  }
  std::vector<double> x[2];
  for (const int g : {0, 1})
    for (int i = begin[0]; i < end[0]; ++i) x[g].push_back(coordinate(0, i, g));
  const auto host = Kokkos::create_mirror_view(values);
  std::fill_n(host.data(), host.span(), 0.0);
  for (int k = begin[2]; k < end[2]; ++k)
    for (int j = begin[1]; j < end[1]; ++j)
      for (int g = 0; g < element_nodes; ++g)
        f.evaluate(x[g & 1], coordinate(1, j, g >> 1 & 1), coordinate(2, k, g >> 2), 0,
                   {&host(k, j, g, begin[0]), x[g & 1].size()}, finite);
  Kokkos::deep_copy(values, host);
  return values;
}

} // namespace kontor::cg
