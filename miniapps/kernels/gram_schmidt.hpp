// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/bench.hpp"
#include "stepping/global_dots.hpp"

/// A = Q R, the rows of A and Q divided among ranks (G. H. Golub, C. F. Van Loan, Matrix Computations, 5.2.8).
namespace kontor::kernels {

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft>;
using Column = Kokkos::View<double*>;

/// r = sqrt(sum), q = q / r.
inline void normalise(const Space& instance, const double* sum, double* r, const Column& q) {
  Kokkos::parallel_for(
      "kernels/normalise", stepping::by_value_at_launch(Range(instance, 0, q.extent(0))),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const double norm = sqrt(*sum);
        if (i == 0) *r = norm;
        q(i) /= norm;
      });
}

/// r = sum, a = a - r q.
inline void subtract(const Space& instance, const double* sum, double* r, const Column& q, const Column& a) {
  Kokkos::parallel_for(
      "kernels/subtract", stepping::by_value_at_launch(Range(instance, 0, q.extent(0))),
      KOKKOS_LAMBDA(const std::int64_t i) {
        if (i == 0) *r = *sum;
        a(i) -= *sum * q(i);
      });
}

/// Collective; waits for nothing where sums do not. The columns of A become those of Q. Each of the K (K + 1) / 2 sums
/// over all ranks is needed by the next kernel.
inline void modified_gram_schmidt(const Space& instance, const Matrix& q, const Matrix& r, stepping::GlobalDots& dots) {
  const auto column = [&](int j) { return Column(Kokkos::subview(q, Kokkos::ALL, j)); };
  const auto entry = [&](int j, int k) { return Kokkos::subview(r, j, k).data(); };
  const auto dot = [&](int j, int k) {
    dots.dot(instance, 0, column(j), column(k));
    dots.start(instance);
    dots.finish(instance);
    return dots.local();
  };
  const int columns = static_cast<int>(q.extent(1));
  for (int j = 0; j < columns; ++j) {
    normalise(instance, dot(j, j), entry(j, j), column(j));
    for (int k = j + 1; k < columns; ++k) subtract(instance, dot(j, k), entry(j, k), column(j), column(k));
  }
}

} // namespace kontor::kernels
