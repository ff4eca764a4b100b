// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/gradient.hpp"

#include <limits>

namespace kontor::kernels {
namespace {

using Corners = double[3][8]; ///< (axis, node)

/// 12 times the volume, by Gauss' theorem: each bilinear face is the mean of its two pairs of triangles.
double volume12(const Corners& x) {
  constexpr int faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
  constexpr int triangles[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2, 3}};
  double sum = 0;
  for (const auto& face : faces)
    for (const auto& triangle : triangles) {
      const int p = face[triangle[0]], q = face[triangle[1]], r = face[triangle[2]];
      for (int i = 0, j = 1, k = 2; i < 3; j = k, k = i++) sum += x[i][p] * (x[j][q] * x[k][r] - x[k][q] * x[j][r]);
    }
  return sum;
}

template <class T>
void measure_hexahedra(Bench& bench, std::int64_t n) {
  using Nodes = Kokkos::View<T***>;
  using FixedNodes = Kokkos::View<T* [3][8]>;
  const auto corner = [](auto e, auto axis, auto node) {
    constexpr int cube[3][8] = {{0, 1, 1, 0, 0, 1, 1, 0}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
    return cube[axis][node] + random_number<T>(e, 8 * axis + node) / 5;
  };
  // The volume is linear in each coordinate, so a difference is its derivative.
  const auto derivative = [=](auto e, auto axis, auto node) {
    Corners x;
    for (int i = 0; i < 24; ++i) x[i / 8][i % 8] = corner(e, i / 8, i % 8);
    const double before = volume12(x);
    x[axis][node] += 1;
    return volume12(x) - before;
  };
  const auto fixed_x = filled(FixedNodes("kernels/coordinates", n), corner);
  const FixedNodes fixed_b("kernels/derivatives", n);
  const Nodes x = fixed_x, b = fixed_b; // the same values; the compiler does not know the extents
  const Way ways[] = {way("up_front", [=] { gradient_up_front(x, b); }),
                      way("dispersed", [=] { gradient_dispersed(x, b); }),
                      way("fixed_extents", [=] { gradient_up_front(fixed_x, fixed_b); })};
  const auto elements = static_cast<double>(n), bytes = 24 * sizeof(T) * elements;
  bench.time({"gradient",
              n,
              elements,
              {bytes, bytes},
              {{"elements", elements, "1/s"}, {"flops", hexahedron_flops * elements, "flop/s"}}},
             ways,
             {[=] { Kokkos::deep_copy(b, T(0)); }, [=] { return largest_error(b, derivative); },
              200 * std::numeric_limits<T>::epsilon()});
}

} // namespace

void measure_gradient(Bench& bench, std::int64_t n) {
  miniapp::with_scalar(bench.options.precision, [&](auto scalar) { measure_hexahedra<decltype(scalar)>(bench, n); });
}

} // namespace kontor::kernels
