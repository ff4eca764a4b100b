// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/assembly.hpp"

#include "machine/first_touch.hpp"
#include "machine/huge_pages.hpp"

namespace kontor::cg {
namespace {

/// For (z, y) of the own points, and blocks of lanes along x.
BoxPolicy own_blocks(const FeMesh& mesh) {
  return BoxPolicy({0, 0, 0}, {mesh.extents[2], mesh.extents[1], fe_blocks(mesh.extents[0])});
}

/// The place among 27 of the node that differs from the one in the middle along the axes whose bits are in `across`, in
/// element e around it.
KOKKOS_INLINE_FUNCTION constexpr int place_of(int e, int across) {
  int place = 13;
  for (int axis = 0, stride = 1; axis < 3; ++axis, stride *= 3)
    if ((across >> axis & 1) != 0) place += (e >> axis & 1) != 0 ? stride : -stride;
  return place;
}

/// The rows of some points along x at a time, one a lane.
struct GatherRows {
  FeMesh mesh;
  ElementIntegrals integrals;
  GaussValues conductivity;
  RowValues matrix;

  template <int e>
  KOKKOS_FUNCTION void add(int k, int j, int i, double (&rows)[27][fe_lanes]) const {
    constexpr int a = element_nodes - 1 - e; // the node that the point is in this element
    const double* const first = &conductivity(k + (e >> 2), j + (e >> 1 & 1), 0, i + (e & 1));
    const auto stride = conductivity.stride(2);
#pragma omp simd
    for (int lane = 0; lane < fe_lanes; ++lane) {
      double values[element_nodes];
#pragma GCC unroll 8
      for (int g = 0; g < element_nodes; ++g) values[g] = first[g * stride + lane];
#pragma GCC unroll 8
      for (int across = 0; across < element_nodes; ++across) {
        double sum = 0;
#pragma GCC unroll 8
        for (int g = 0; g < element_nodes; ++g) sum += values[g] * integrals.stiffness[g ^ a][across];
        rows[place_of(e, across)][lane] += sum;
      }
    }
  }

  KOKKOS_FUNCTION void operator()(int k, int j, int block) const {
    double rows[27][fe_lanes] = {};
    const int first = block * fe_lanes;
    add<0>(k, j, first, rows);
    add<1>(k, j, first, rows);
    add<2>(k, j, first, rows);
    add<3>(k, j, first, rows);
    add<4>(k, j, first, rows);
    add<5>(k, j, first, rows);
    add<6>(k, j, first, rows);
    add<7>(k, j, first, rows);
    for (int lane = 0; lane < fe_lanes && first + lane < mesh.extents[0]; ++lane) store(k, j, first + lane, lane, rows);
  }

  KOKKOS_FUNCTION void store(int k, int j, int i, int lane, const double (&rows)[27][fe_lanes]) const {
    const auto n = mesh.neighbours(i, j, k);
    auto values = matrix.row(mesh.row(i, j, k));
    const bool all = n.count() == 27;
    for (int place = 0; place < 27; ++place)
      if (all || n.has(place % 3 - 1, place / 3 % 3 - 1, place / 9 - 1)) values.next() = rows[place][lane];
  }
};

struct GatherLoad {
  FeMesh mesh;
  ElementIntegrals integrals;
  GaussValues source;
  Vector rhs;

  KOKKOS_FUNCTION void operator()(int k, int j, int block) const {
    double loads[fe_lanes] = {};
    const int i = block * fe_lanes;
    for (int e = 0; e < element_nodes; ++e) {
      const int a = element_nodes - 1 - e;
      const double* const first = &source(k + (e >> 2), j + (e >> 1 & 1), 0, i + (e & 1));
      const auto stride = source.stride(2);
      double sum[fe_lanes] = {};
      for (int g = 0; g < element_nodes; ++g)
        for (int lane = 0; lane < fe_lanes; ++lane) sum[lane] += first[g * stride + lane] * integrals.load[g ^ a];
      for (int lane = 0; lane < fe_lanes; ++lane) loads[lane] += sum[lane];
    }
    for (int lane = 0; lane < fe_lanes && i + lane < mesh.extents[0]; ++lane)
      rhs(mesh.row(i + lane, j, k)) = loads[lane];
  }
};

} // namespace

CompressedRows make_structure(const FeMesh& mesh) {
  const auto rows = static_cast<std::size_t>(mesh.extents[0]) * static_cast<std::size_t>(mesh.extents[1]) *
                    static_cast<std::size_t>(mesh.extents[2]);
  const auto offsets = miniapp::zeroed<std::int64_t>("cg/offsets", rows + 1);
  for_points(
      "cg/count entries", mesh.extents,
      KOKKOS_LAMBDA(int k, int j, int i) { offsets(mesh.row(i, j, k) + 1) = mesh.neighbours(i, j, k).count(); });
  const Rows columns(Kokkos::view_alloc("cg/columns", Kokkos::WithoutInitializing), sum_counts(offsets));
  miniapp::use_huge_pages(columns);
  for_points(
      "cg/columns", mesh.extents, KOKKOS_LAMBDA(int k, int j, int i) {
        const auto n = mesh.neighbours(i, j, k);
        LocalIndex* column = &columns(offsets(mesh.row(i, j, k)));
        for (int dz = n.begin[2]; dz < n.end[2]; ++dz)
          for (int dy = n.begin[1]; dy < n.end[1]; ++dy) {
            const LocalIndex* const row = &mesh.rows(k + 1 + dz, j + 1 + dy, i + 1);
            for (int dx = n.begin[0]; dx < n.end[0]; ++dx) *column++ = row[dx];
          }
      });
  return {offsets, columns, {}};
}

void assemble_matrix(const FeMesh& mesh, const ElementIntegrals& integrals, const GaussValues& conductivity,
                     const RowValues& matrix) {
  Kokkos::parallel_for("cg/gather rows", own_blocks(mesh), GatherRows{mesh, integrals, conductivity, matrix});
}

void assemble_load(const FeMesh& mesh, const ElementIntegrals& integrals, const GaussValues& source,
                   const Vector& rhs) {
  Kokkos::parallel_for("cg/gather load", own_blocks(mesh), GatherLoad{mesh, integrals, source, rhs});
}

} // namespace kontor::cg
