// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/bench.hpp"

/// Reductions to the host: of one kind, and of two kinds in one kernel.
namespace kontor::kernels {

using Numbers = Kokkos::View<double*>;

inline void minimum(const Numbers& numbers, double& least) {
  Kokkos::parallel_reduce(
      "kernels/min", Range(0, numbers.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t i, double& min) {
        if (numbers(i) < min) min = numbers(i);
      },
      Kokkos::Min<double>(least));
}

inline void total(const Numbers& numbers, double& sum) {
  Kokkos::parallel_reduce(
      "kernels/sum", Range(0, numbers.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t i, double& part) { part += numbers(i); }, Kokkos::Sum<double>(sum));
}

inline void minimum_and_total(const Numbers& numbers, double& least, double& sum) {
  Kokkos::parallel_reduce(
      "kernels/min and sum", Range(0, numbers.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t i, double& min, double& part) {
        if (numbers(i) < min) min = numbers(i);
        part += numbers(i);
      },
      Kokkos::Min<double>(least), Kokkos::Sum<double>(sum));
}

} // namespace kontor::kernels
