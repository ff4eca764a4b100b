// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"

namespace kontor::kernels {

/// a += b in three dimensions: the outer loop parallel, all loops as one, and tiles of all.
void measure_mdrange(Bench& bench, std::int64_t edge) {
  using Tensor = Kokkos::View<double***>;
  const auto value = [](auto i, auto j, auto k) { return static_cast<double>(1 + i + 3 * j + 7 * k); };
  const int n = static_cast<int>(edge), m = n;
  const Tensor a("kernels/a", n, m, n);
  const auto b = filled(Tensor("kernels/b", n, m, n), value);
  const auto outer = kernel(
      "kernels/add outer", Range(0, n), KOKKOS_LAMBDA(const std::int64_t i) {
        for (int j = 0; j < m; ++j)
          for (int k = 0; k < n; ++k) a(i, j, k) += b(i, j, k);
      });
  const auto flattened = kernel(
      "kernels/add flattened", Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(0, n * m * n),
      KOKKOS_LAMBDA(const int i) { a(i / (m * n), i / n % m, i % n) += b(i / (m * n), i / n % m, i % n); });
  const auto tiled = kernel(
      "kernels/add mdrange",
      Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>, Kokkos::IndexType<int>>({0, 0, 0}, {n, m, n}),
      KOKKOS_LAMBDA(const int i, const int j, const int k) { a(i, j, k) += b(i, j, k); });
  const Way ways[] = {way("outer", outer), way("flattened", flattened), way("mdrange", tiled)};
  const auto elements = static_cast<double>(edge * edge * edge), bytes = elements * sizeof(double);
  bench.time({"a += b", edge, elements, {2 * bytes, bytes}, {{"bandwidth", 3 * bytes, "B/s"}}}, ways,
             becomes(a, 2, [=](auto i, auto j, auto k) { return 2 + value(i, j, k); }));
}

} // namespace kontor::kernels
