// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <stdexcept>
#include <string>

/// The one place outside the backends that knows the makers of GPUs apart. CUDA and HIP give the same functions other
/// prefixes: KONTOR_GPU(Malloc) is cudaMalloc or hipMalloc, and is not defined where there is neither.
namespace kontor::device {

#if defined(KOKKOS_ENABLE_CUDA)
#define KONTOR_GPU(name) cuda##name
using GpuSpace = Kokkos::Cuda;
using PinnedSpace = Kokkos::CudaHostPinnedSpace; ///< host memory that kernels reach and that is never paged
#elif defined(KOKKOS_ENABLE_HIP)
#define KONTOR_GPU(name) hip##name
using GpuSpace = Kokkos::HIP;
using PinnedSpace = Kokkos::HIPHostPinnedSpace; ///< host memory that kernels reach and that is never paged
#elif defined(KOKKOS_ENABLE_SYCL)
using PinnedSpace = Kokkos::SYCLHostUSMSpace; ///< host memory that kernels reach and that is never paged
#else
using PinnedSpace = Kokkos::HostSpace; ///< host memory that kernels reach and that is never paged
#endif

#if defined(KONTOR_GPU)
namespace detail {
inline void check_gpu(KONTOR_GPU(Error_t) code, const char* call) {
  if (code != KONTOR_GPU(Success))
    throw std::runtime_error(std::string(call) + " failed: " + KONTOR_GPU(GetErrorString)(code));
}
} // namespace detail
#endif

} // namespace kontor::device
