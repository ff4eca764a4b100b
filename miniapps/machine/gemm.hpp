// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"

#include <kontor/comm/communicator.hpp>

#include <Kokkos_Core.hpp>

/// Products of dense matrices where kernels run, by Kokkos Kernels. The library kontor_gemm, which there is where CMake
/// finds Kokkos Kernels; an app that uses it is declared with LINK kontor_gemm.
namespace kontor::miniapp {

/// In the memory of kernels, columns one after the other, as BLAS has them.
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft>;

/// What a product does with its matrices.
struct GemmForm {
  bool transpose_a = false; ///< a is stored k x m
  bool transpose_b = false; ///< b is stored n x k
};

/// Local. c = alpha op(a) op(b) + beta c, of m x k, k x n and m x n elements; columns may lie apart. With beta 0, c
/// need not be a number before. Queued on the default instance: fence it before the host reads c. T is float or double.
template <class T>
void gemm(const GemmForm&, T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta, const Matrix<T>& c);

/// Local. The library that makes such products.
std::string gemm_library();

/// Local. The block, so many times halved along its longest edge.
GemmBlock halved(GemmBlock, int times);

/// Collective; valid on every rank. Each rank's product c += op(a) op(b) of matrices of the caller, of which c is
/// changed, all ranks at once, until the slowest is done: the best of up to nine samples, of 20 ms or more each.
/// Where the product takes more than a quarter of a second, it is one of halved parts, as often halved on every rank.
/// A host's BLAS has so many threads from then on. T is float or double.
template <class T>
GemmRate gemm_rate(const comm::Communicator&, const GemmForm&, const Matrix<const T>& a, const Matrix<const T>& b,
                   const Matrix<T>& c, int blas_threads);

extern template void gemm(const GemmForm&, float, const Matrix<const float>&, const Matrix<const float>&, float,
                          const Matrix<float>&);
extern template void gemm(const GemmForm&, double, const Matrix<const double>&, const Matrix<const double>&, double,
                          const Matrix<double>&);
extern template GemmRate gemm_rate(const comm::Communicator&, const GemmForm&, const Matrix<const float>&,
                                   const Matrix<const float>&, const Matrix<float>&, int);
extern template GemmRate gemm_rate(const comm::Communicator&, const GemmForm&, const Matrix<const double>&,
                                   const Matrix<const double>&, const Matrix<double>&, int);

} // namespace kontor::miniapp
