// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/gemm.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

/// The product of dense matrices as a textbook has it, on a CPU and on a device, to compare with.
namespace kontor::matmul {

/// Local; queued on the default instance. c_ij = alpha sum over l of op(a)_il op(b)_lj + beta c_ij, a work item an
/// element. a is m x k or, transposed, k x m; b is k x n or n x k; c is m x n. With beta 0, c need not be a number
/// before.
template <class T>
void plain_gemm(const miniapp::GemmForm& form, T alpha, const miniapp::Matrix<const T>& a,
                const miniapp::Matrix<const T>& b, T beta, const miniapp::Matrix<T>& c) {
  using Space = typename miniapp::Matrix<T>::execution_space;
  using Order = Kokkos::Rank<2, Kokkos::Iterate::Left, Kokkos::Iterate::Left>; // i is the innermost loop
  using Index = std::int64_t;
  const Kokkos::MDRangePolicy<Space, Order, Kokkos::IndexType<Index>> elements(
      {0, 0}, {static_cast<Index>(c.extent(0)), static_cast<Index>(c.extent(1))});
  const bool transpose_a = form.transpose_a, transpose_b = form.transpose_b;
  const auto k = static_cast<Index>(a.extent(transpose_a ? 0 : 1));
  Kokkos::parallel_for(
      "matmul/plain", elements, KOKKOS_LAMBDA(Index i, Index j) {
        T sum = 0;
        for (Index l = 0; l < k; ++l) sum += (transpose_a ? a(l, i) : a(i, l)) * (transpose_b ? b(j, l) : b(l, j));
        c(i, j) = alpha * sum + (beta == 0 ? T(0) : beta * c(i, j));
      });
}

} // namespace kontor::matmul
