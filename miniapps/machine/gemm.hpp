// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"

#include <kontor/comm/communicator.hpp>

#include <Kokkos_Core.hpp>

/// Products of dense matrices where kernels run, by Kokkos Kernels. The library kontor_gemm, which there is
/// where CMake finds Kokkos Kernels; an app that uses it is declared with LINK kontor_gemm.
namespace kontor::miniapp {

/// In the memory of kernels, columns one after the other, as BLAS has them.
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft>;

/// Local. c = alpha a b + beta c, of m x k, k x n and m x n elements. Queued on the default instance: fence
/// it before the host reads c. T is float or double.
template <class T>
void gemm(T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta, const Matrix<T>& c);

/// Collective; valid on every rank. Each rank's product c += a b of matrices of its own, all ranks at once,
/// until the slowest is done: the median of three to nine samples, of 20 ms or more each. Three matrices are
/// allocated. T is float or double.
template <class T>
GemmRate gemm_rate(const comm::Communicator&, GemmBlock);

/// Local. What to put into CalibrationRequest::gemm.
template <class T>
auto gemm_request(GemmBlock block) {
  return [block](const comm::Communicator& comm) { return gemm_rate<T>(comm, block); };
}

extern template void gemm(float, const Matrix<const float>&, const Matrix<const float>&, float,
                          const Matrix<float>&);
extern template void gemm(double, const Matrix<const double>&, const Matrix<const double>&, double,
                          const Matrix<double>&);
extern template GemmRate gemm_rate<float>(const comm::Communicator&, GemmBlock);
extern template GemmRate gemm_rate<double>(const comm::Communicator&, GemmBlock);

} // namespace kontor::miniapp
