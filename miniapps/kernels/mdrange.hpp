// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/bench.hpp"

/// a += b for Views of three dimensions: three ways to share out the elements.
namespace kontor::kernels {

using Tensor = Kokkos::View<double***>;

/// Only the outermost loop is parallel.
inline void add_outer(const Tensor& a, const Tensor& b) {
  const int m = static_cast<int>(a.extent(1)), n = static_cast<int>(a.extent(2));
  Kokkos::parallel_for(
      "kernels/add outer", Range(0, a.extent(0)), KOKKOS_LAMBDA(const std::int64_t i) {
        for (int j = 0; j < m; ++j)
          for (int k = 0; k < n; ++k) a(i, j, k) += b(i, j, k);
      });
}

/// The three loops are one, and the indices quotients and remainders.
inline void add_flattened(const Tensor& a, const Tensor& b) {
  const int m = static_cast<int>(a.extent(1)), n = static_cast<int>(a.extent(2));
  Kokkos::parallel_for(
      "kernels/add flattened", Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(0, static_cast<int>(a.size())),
      KOKKOS_LAMBDA(const int i) { a(i / (m * n), i / n % m, i % n) += b(i / (m * n), i / n % m, i % n); });
}

/// Kokkos tiles the three loops.
inline void add_mdrange(const Tensor& a, const Tensor& b) {
  const int l = static_cast<int>(a.extent(0)), m = static_cast<int>(a.extent(1)), n = static_cast<int>(a.extent(2));
  Kokkos::parallel_for(
      "kernels/add mdrange",
      Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>, Kokkos::IndexType<int>>({0, 0, 0}, {l, m, n}),
      KOKKOS_LAMBDA(const int i, const int j, const int k) { a(i, j, k) += b(i, j, k); });
}

} // namespace kontor::kernels
