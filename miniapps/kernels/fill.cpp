// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"

/// Trilinear finite elements: the matrix of each element, and the matrix of the mesh that they add up to.
namespace kontor::kernels {

/// What kernels know of the mesh. Nodes of an element are numbered x + 2 y + 4 z.
struct Mesh {
  Kokkos::View<double* [3]> coordinates; ///< (node, axis)
  Kokkos::View<int* [8]> nodes;          ///< (element, its node)
  Kokkos::View<int* [8][8]> slots;       ///< (element, its node, another one): where the entry is
  Kokkos::View<int* [8]> elements;       ///< (row, a): the element whose node a it is, or -1
};

KOKKOS_INLINE_FUNCTION double dot(const double (&a)[3], const double (&b)[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Adds the integrals of grad N_a . grad N_b, in 2 x 2 x 2 Gauss points; x(node, axis).
KOKKOS_INLINE_FUNCTION void stiffness(const double (&x)[8][3], double (&k)[8][8]) {
  constexpr double near = 0.21132486540518711775; // of the point, to its node
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
    const double det = dot(jacobian[0], cofactor[0]);
    for (int a = 0; a < 8; ++a)
      for (int i = 0; i < 3; ++i) gradient[a][i] = dot(cofactor[i], slope[a]) / det;
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b) k[a][b] += det / 8 * dot(gradient[a], gradient[b]);
  }
}

constexpr double edges[3][3] = {{1, 0.25, 0}, {0, 1, 0.5}, {0, 0, 2}}; ///< of all elements
/// The inverse of that matrix, transposed, times the inverse.
constexpr double metric[3][3] = {{1, -0.25, 0.0625}, {-0.25, 1.0625, -0.265625}, {0.0625, -0.265625, 0.31640625}};
constexpr int bit(int bits, int axis) { return bits >> axis & 1; }

/// An entry of an element's matrix in closed form: the sum over axes d and e of metric(d, e) times the integral of
/// dN_a/dd dN_b/de, which is a product of integrals along the axes.
static double exact_stiffness(std::int64_t /*element*/, int a, int b) {
  double sum = 0;
  for (int d = 0; d < 3; ++d)
    for (int e = 0; e < 3; ++e) {
      double term = 2 * metric[d][e]; // 2: the volume
      for (int axis = 0; axis < 3; ++axis) {
        if (axis == d) term *= 2 * bit(a, axis) - 1;
        if (axis == e) term *= 2 * bit(b, axis) - 1;
        if ((axis == d) != (axis == e)) term /= 2;
        if (axis != d && axis != e) term /= bit(a, axis) == bit(b, axis) ? 3 : 6;
      }
      sum += term;
    }
  return sum;
}

/// A cube of n elements along each axis.
static Mesh make_mesh(int n) {
  const int elements = n * n * n, edge = n + 1, rows = edge * edge * edge;
  const auto node = [=](int e, int a, int = 0) {
    return point_at(e % n + bit(a, 0), e / n % n + bit(a, 1), e / n / n + bit(a, 2), edge);
  };
  const auto slot = [=](int e, int a, int b) {
    const auto step = [=](int axis) { return bit(b, axis) - bit(a, axis) + 1; };
    return 27 * node(e, a) + point_at(step(0), step(1), step(2), 3);
  };
  const auto element = [=](int row, int a, int) {
    return point_at(row % edge - bit(a, 0), row / edge % edge - bit(a, 1), row / edge / edge - bit(a, 2), n);
  };
  const auto coordinate = [=](int row, int axis, int) {
    return row % edge * edges[0][axis] + row / edge % edge * edges[1][axis] + row / edge / edge * edges[2][axis];
  };
  return {filled(decltype(Mesh::coordinates)("kernels/coordinates", rows), coordinate),
          filled(decltype(Mesh::nodes)("kernels/nodes", elements), node),
          filled(decltype(Mesh::slots)("kernels/slots", elements), slot),
          filled(decltype(Mesh::elements)("kernels/elements", rows), element)};
}

void measure_fill(Bench& bench, std::int64_t n) {
  const auto mesh = make_mesh(static_cast<int>(n));
  const auto elements = static_cast<double>(mesh.nodes.extent(0)), rows = static_cast<double>(mesh.elements.extent(0));
  const Kokkos::View<double* [8][8]> matrices("kernels/element matrices", mesh.nodes.extent(0));
  const Vector entries("kernels/entries", 27 * mesh.elements.extent(0)); // 27 slots a row
  constexpr double tolerance = 200 * epsilon<>;
  const auto by_element = kernel(
      "kernels/compute elements", Range(0, mesh.nodes.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        double x[8][3], k[8][8] = {};
        for (int a = 0; a < 8; ++a)
          for (int i = 0; i < 3; ++i) x[a][i] = mesh.coordinates(mesh.nodes(e, a), i);
        stiffness(x, k);
        for (int a = 0; a < 8; ++a)
          for (int b = 0; b < 8; ++b) matrices(e, a, b) = k[a][b];
      });
  const Way compute[] = {way("compute", by_element)};
  bench.time({"compute", n, elements, {32 * elements + 24 * rows, 512 * elements}, {{"elements", elements, "1/s"}}},
             compute, becomes(matrices, HUGE_VAL, exact_stiffness, tolerance));

  compute[0].run(1);
  std::vector<double> exact(entries.size());
  each_value(on_host(mesh.slots), [&](int slot, auto e, int a, int b) { exact[slot] += exact_stiffness(e, a, b); });
  const auto scatter = Kokkos::Experimental::create_scatter_view(entries);
  const auto clear = [=] { Kokkos::deep_copy(Space(), entries, 0.0); };
  const auto gather = kernel(
      "kernels/fill by rows", Range(0, mesh.elements.extent(0)), KOKKOS_LAMBDA(const std::int64_t row) {
        for (int slot = 0; slot < 27; ++slot) entries(27 * row + slot) = 0;
        for (int a = 0; a < 8; ++a) {
          const auto e = mesh.elements(row, a);
          for (int b = 0; b < 8 && e >= 0; ++b) entries(mesh.slots(e, a, b)) += matrices(e, a, b);
        }
      });
  const auto atomic = kernel(
      "kernels/fill atomically", Range(0, matrices.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        for (int a = 0; a < 8; ++a)
          for (int b = 0; b < 8; ++b) Kokkos::atomic_add(&entries(mesh.slots(e, a, b)), matrices(e, a, b));
      });
  const auto scattered = kernel(
      "kernels/fill by ScatterView", Range(0, matrices.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        auto access = scatter.access();
        for (int a = 0; a < 8; ++a)
          for (int b = 0; b < 8; ++b) access(mesh.slots(e, a, b)) += matrices(e, a, b);
      });
  const Way fill[] = {way("gather", gather), way("atomic", [=] { clear(), atomic(); }),
                      scatter_way(entries, scatter, [=] { clear(), scattered(); })};
  bench.time({"fill", n, elements, {768 * elements, 216 * rows}, {{"elements", elements, "1/s"}}}, fill,
             becomes(entries, HUGE_VAL, values_of(exact), tolerance));
}

} // namespace kontor::kernels
