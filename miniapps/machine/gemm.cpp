// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/gemm.hpp"

#include "machine/blas.hpp"
#include "machine/stream.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <KokkosBlas3_gemm.hpp>

#include <cmath>
#include <type_traits>
#include <utility>

namespace kontor::miniapp {
namespace {

/// What Kokkos Kernels was built to hand products to; its own loops where there is nothing.
Blas library() {
#if defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
  if (!device::kernels_on_host) return {"cuBLAS", true};
#endif
#if defined(KOKKOSKERNELS_ENABLE_TPL_ROCBLAS)
  if (!device::kernels_on_host) return {"rocBLAS", true};
#endif
#if defined(KOKKOSKERNELS_ENABLE_TPL_BLAS) || defined(KOKKOSKERNELS_ENABLE_TPL_MKL)
  if (device::kernels_on_host) return host_blas();
#endif
  return {"Kokkos Kernels without BLAS", false};
}

double flops_of(const GemmBlock& block) {
  return 2.0 * static_cast<double>(block.m) * static_cast<double>(block.n) * static_cast<double>(block.k);
}

} // namespace

std::string gemm_library() { return library().name; }

template <class T>
void gemm(const GemmForm& form, T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T beta,
          const Matrix<T>& c) {
  KokkosBlas::gemm(form.transpose_a ? "T" : "N", form.transpose_b ? "T" : "N", alpha, a, b, beta, c);
}

GemmBlock halved(GemmBlock block, int times) {
  for (; times > 0; --times) {
    auto& longest = block.m >= block.n && block.m >= block.k ? block.m : block.n >= block.k ? block.n : block.k;
    longest = (longest + 1) / 2;
  }
  return block;
}

template <class T>
GemmRate gemm_rate(const comm::Communicator& comm, const GemmForm& form, const Matrix<const T>& a,
                   const Matrix<const T>& b, const Matrix<T>& c, int blas_threads) {
  if (device::kernels_on_host) set_blas_threads(blas_threads);
  const GemmBlock whole{static_cast<std::int64_t>(c.extent(0)), static_cast<std::int64_t>(c.extent(1)),
                        static_cast<std::int64_t>(a.extent(form.transpose_a ? 0 : 1))};
  auto block = whole;
  const auto part = [](const auto& matrix, std::int64_t rows, std::int64_t columns, bool transposed) {
    return Kokkos::subview(matrix, std::pair(std::int64_t{0}, transposed ? columns : rows),
                           std::pair(std::int64_t{0}, transposed ? rows : columns));
  };
  const auto work = [&] {
    gemm<T>(form, T(1), part(a, block.m, block.k, form.transpose_a), part(b, block.k, block.n, form.transpose_b), T(1),
            part(c, block.m, block.n, false));
  };
  constexpr double short_product = 1e8, long_product = 0.125; // flop; s
  int halvings = 0;
  while (flops_of(halved(whole, halvings)) > short_product) ++halvings;
  halvings = comm::allreduce(comm, halvings, comm::ReduceOp::max);
  block = halved(whole, halvings);
  slowest_seconds(comm, 1, work); // libraries set themselves up
  double first = slowest_seconds(comm, 1, work);
  while (halvings > 0 && first < long_product) {
    block = halved(whole, --halvings);
    first = slowest_seconds(comm, 1, work);
  }
  const int times = static_cast<int>(std::clamp(std::ceil(0.02 / first), 1.0, 1000.0));
  const double seconds = least_seconds(comm, times, 9, {work});
  return {block, std::is_same_v<T, float> ? "float" : "double",
          comm::allreduce(comm, flops_of(block), comm::ReduceOp::sum) / seconds, gemm_library(), library().optimised};
}

template void gemm(const GemmForm&, float, const Matrix<const float>&, const Matrix<const float>&, float,
                   const Matrix<float>&);
template void gemm(const GemmForm&, double, const Matrix<const double>&, const Matrix<const double>&, double,
                   const Matrix<double>&);
template GemmRate gemm_rate(const comm::Communicator&, const GemmForm&, const Matrix<const float>&,
                            const Matrix<const float>&, const Matrix<float>&, int);
template GemmRate gemm_rate(const comm::Communicator&, const GemmForm&, const Matrix<const double>&,
                            const Matrix<const double>&, const Matrix<double>&, int);

} // namespace kontor::miniapp
