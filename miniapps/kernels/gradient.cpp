// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "element/plain_hexahedron.hpp"
#include "kernels/bench.hpp"

/// The gradient operator of hexahedra with one integration point (D. P. Flanagan, T. Belytschko, A uniform strain
/// hexahedron and quadrilateral with orthogonal hourglass control, 1981).
namespace kontor::kernels {

constexpr int flops = 318; ///< of an element: 3 axes of 18 differences and sums, and 8 nodes with 11 each

/// b[a] = 12 dV/dx_a of the volume V of a hexahedron, from the y and z of its nodes; for the other axes cyclically.
template <class T, class Y, class Z, class B>
KOKKOS_INLINE_FUNCTION void volume_derivatives(const Y& y, const Z& z, B&& b) {
  // The two diagonals of each face, and sums of those of opposite faces.
  const T z31 = z[2] - z[0], z42 = z[3] - z[1], z52 = z[4] - z[1], z54 = z[4] - z[3], z61 = z[5] - z[0],
          z63 = z[5] - z[2], z72 = z[6] - z[1], z74 = z[6] - z[3], z75 = z[6] - z[4], z81 = z[7] - z[0],
          z83 = z[7] - z[2], z86 = z[7] - z[5];
  const T s12 = z63 + z54, s23 = z61 + z74, s34 = z72 + z81, s15 = z86 + z42, s14 = z83 + z52, s26 = z75 + z31;
  b[0] = y[1] * s12 - y[2] * z42 - y[3] * s14 + y[4] * s15 + y[5] * z52 - y[7] * z54;
  b[1] = y[2] * s23 + y[3] * z31 - y[0] * s12 - y[5] * s26 + y[6] * z63 - y[4] * z61;
  b[2] = y[3] * s34 + y[0] * z42 - y[1] * s23 - y[6] * s15 + y[7] * z74 - y[5] * z72;
  b[3] = y[0] * s14 - y[1] * z31 - y[2] * s34 + y[7] * s26 + y[4] * z81 - y[6] * z83;
  b[4] = y[5] * s34 + y[6] * z86 - y[7] * s23 - y[0] * s15 - y[3] * z81 + y[1] * z61;
  b[5] = y[6] * s14 - y[4] * s34 - y[7] * z75 + y[1] * s26 - y[0] * z52 + y[2] * z72;
  b[6] = y[7] * s12 - y[5] * s14 - y[4] * z86 + y[2] * s15 - y[1] * z63 + y[3] * z83;
  b[7] = y[4] * s23 - y[6] * s12 + y[5] * z75 - y[3] * s26 - y[2] * z74 + y[0] * z54;
}

/// One axis of the nodes of an element, in a View (element, axis, node).
template <class View>
struct NodesOf {
  View view;
  std::int64_t element;
  int axis;
  KOKKOS_FUNCTION auto& operator[](int node) const { return view(element, axis, node); }
};

/// Reads the 24 coordinates of an element first, and writes its 24 derivatives last.
template <class Nodes>
void gradient_up_front(const Nodes& x, const Nodes& b) {
  using T = typename Nodes::value_type;
  Kokkos::parallel_for(
      "kernels/gradient", Range(0, x.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        T in[3][8], out[3][8];
        for (int axis = 0; axis < 3; ++axis)
          for (int node = 0; node < 8; ++node) in[axis][node] = x(e, axis, node);
        for (int axis = 0; axis < 3; ++axis) volume_derivatives<T>(in[(axis + 1) % 3], in[(axis + 2) % 3], out[axis]);
        for (int axis = 0; axis < 3; ++axis)
          for (int node = 0; node < 8; ++node) b(e, axis, node) = out[axis][node];
      });
}

/// Reads and writes where the formula does.
template <class Nodes>
void gradient_dispersed(const Nodes& x, const Nodes& b) {
  Kokkos::parallel_for(
      "kernels/gradient dispersed", Range(0, x.extent(0)), KOKKOS_LAMBDA(const std::int64_t e) {
        for (int axis = 0; axis < 3; ++axis)
          volume_derivatives<typename Nodes::value_type>(
              NodesOf<Nodes>{x, e, (axis + 1) % 3}, NodesOf<Nodes>{x, e, (axis + 2) % 3}, NodesOf<Nodes>{b, e, axis});
      });
}

template <class T>
void measure_hexahedra(Bench& bench, std::int64_t n) {
  using Nodes = Kokkos::View<T***>;
  using FixedNodes = Kokkos::View<T* [3][8]>;
  const auto corner = [](auto e, auto axis, auto node) {
    constexpr int cube[3][8] = {{0, 1, 1, 0, 0, 1, 1, 0}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
    return cube[axis][node] + random_number<T>(e, 8 * axis + node) / 5;
  };
  const auto fixed_x = filled(FixedNodes("kernels/coordinates", n), corner);
  const FixedNodes fixed_b("kernels/derivatives", n);
  const auto exact = Kokkos::create_mirror(fixed_b);
  for (std::int64_t e = 0; e < n; ++e) {
    element::CornerPoints points;
    for (int i = 0; i < 24; ++i) points[i % 8][i / 8] = corner(e, i / 8, i % 8);
    const auto of_volume = element::integrate_element(points).gradient;
    for (int i = 0; i < 24; ++i) exact(e, i / 8, i % 8) = 12 * of_volume[i % 8][i / 8];
  }
  const Nodes x = fixed_x, b = fixed_b; // the same values; the compiler does not know the extents
  const Way ways[] = {way("up_front", [=] { gradient_up_front(x, b); }),
                      way("dispersed", [=] { gradient_dispersed(x, b); }),
                      way("fixed_extents", [=] { gradient_up_front(fixed_x, fixed_b); })};
  const auto elements = static_cast<double>(n), bytes = 24 * sizeof(T) * elements;
  bench.time(
      {"gradient", n, elements, {bytes, bytes}, {{"elements", elements, "1/s"}, {"flops", flops * elements, "flop/s"}}},
      ways, becomes(b, 0, exact, 200 * epsilon<T>));
}

void measure_gradient(Bench& bench, std::int64_t n) {
  miniapp::with_scalar(bench.options.precision, [&](auto scalar) { measure_hexahedra<decltype(scalar)>(bench, n); });
}

} // namespace kontor::kernels
