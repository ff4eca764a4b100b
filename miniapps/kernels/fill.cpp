// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/fill.hpp"

#include <limits>

namespace kontor::kernels {
namespace {

constexpr double edges[3][3] = {{1, 0.25, 0}, {0, 1, 0.5}, {0, 0, 2}};             ///< of all elements
constexpr double inverse[3][3] = {{1, -0.25, 0.0625}, {0, 1, -0.25}, {0, 0, 0.5}}; ///< of that matrix
constexpr int bit(int bits, int axis) { return bits >> axis & 1; }

/// An entry of an element's matrix in closed form: with the inverse metric G, the sum over axes d and e of
/// G_de times the integral of dN_a/dd dN_b/de, which is a product of integrals along the axes.
double exact_stiffness(int a, int b) {
  double sum = 0;
  for (int d = 0; d < 3; ++d)
    for (int e = 0; e < 3; ++e) {
      double term = 2; // the volume
      double metric = 0;
      for (int axis = 0; axis < 3; ++axis) {
        metric += inverse[axis][d] * inverse[axis][e];
        if (axis == d) term *= 2 * bit(a, axis) - 1;
        if (axis == e) term *= 2 * bit(b, axis) - 1;
        if ((axis == d) != (axis == e)) term /= 2;
        if (axis != d && axis != e) term /= bit(a, axis) == bit(b, axis) ? 3 : 6;
      }
      sum += metric * term;
    }
  return sum;
}

/// A box of n elements an axis: elements, their nodes and the slots of their entries, by number.
struct Box {
  int n;

  int node(int e, int a) const {
    const int i = e % n + bit(a, 0), j = e / n % n + bit(a, 1), k = e / n / n + bit(a, 2);
    return (k * (n + 1) + j) * (n + 1) + i;
  }
  int slot(int e, int a, int b) const {
    const auto step = [=](int axis) { return bit(b, axis) - bit(a, axis) + 1; };
    return 27 * node(e, a) + 9 * step(2) + 3 * step(1) + step(0);
  }
  int index(int row, int axis) const { return row / (axis == 0 ? 1 : axis == 1 ? n + 1 : (n + 1) * (n + 1)) % (n + 1); }
  int element(int row, int a) const {
    const int i = index(row, 0) - bit(a, 0), j = index(row, 1) - bit(a, 1), k = index(row, 2) - bit(a, 2);
    return std::min({i, j, k}) >= 0 && std::max({i, j, k}) < n ? (k * n + j) * n + i : -1;
  }
  double coordinate(int row, int axis) const {
    return index(row, 0) * edges[0][axis] + index(row, 1) * edges[1][axis] + index(row, 2) * edges[2][axis];
  }
};

Mesh make_mesh(const Box& box, int elements, int rows) {
  return {
      filled(decltype(Mesh::coordinates)("kernels/coordinates", rows),
             [=](int i, int j, int) { return box.coordinate(i, j); }),
      filled(decltype(Mesh::nodes)("kernels/nodes", elements), [=](int e, int a, int) { return box.node(e, a); }),
      filled(decltype(Mesh::slots)("kernels/slots", elements), [=](int e, int a, int b) { return box.slot(e, a, b); }),
      filled(decltype(Mesh::elements)("kernels/elements", rows),
             [=](int row, int a, int) { return box.element(row, a); })};
}

} // namespace

void measure_fill(Bench& bench, std::int64_t n) {
  const Box box{static_cast<int>(n)};
  const auto elements = static_cast<double>(n * n * n), rows = static_cast<double>((n + 1) * (n + 1) * (n + 1));
  const auto mesh = make_mesh(box, static_cast<int>(elements), static_cast<int>(rows));
  const ElementMatrices matrices("kernels/element matrices", mesh.nodes.extent(0));
  const Entries entries("kernels/entries", 27 * mesh.elements.extent(0));
  constexpr double tolerance = 200 * std::numeric_limits<double>::epsilon();
  const Way compute[] = {way("compute", [=] { compute_elements(mesh, matrices); })};
  bench.time(
      {"compute", n, elements, {32 * elements + 24 * rows, 512 * elements}, {{"elements", elements, "1/s"}}}, compute,
      {[=] { Kokkos::deep_copy(matrices, HUGE_VAL); },
       [=] { return largest_error(matrices, [](auto, int a, int b) { return exact_stiffness(a, b); }); }, tolerance});

  compute[0].run(1);
  std::vector<double> exact(entries.size());
  each_value(on_host(mesh.slots), [&](int, int e, int a, int b) { exact[box.slot(e, a, b)] += exact_stiffness(a, b); });
  const auto scatter = Kokkos::Experimental::create_scatter_view(entries);
  const Way fill[] = {way("gather", [=] { fill_by_rows(mesh, matrices, entries); }),
                      way("atomic", [=] { fill_atomically(mesh, matrices, entries); }),
                      way("scatter_view", [=] { fill_by_scatter_view(mesh, matrices, entries, scatter); })};
  bench.time({"fill", n, elements, {768 * elements, 216 * rows}, {{"elements", elements, "1/s"}}}, fill,
             {[=] { Kokkos::deep_copy(entries, HUGE_VAL); },
              [&] { return largest_error(entries, [&](auto i, auto, auto) { return exact[i]; }); }, tolerance});
}

} // namespace kontor::kernels
