// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "views/kokkos_executor.hpp"

namespace kontor::comm {

template <class ExecutionSpace>
std::unique_ptr<Executor> executor_of(const ExecutionSpace& instance) {
  return std::make_unique<KokkosExecutor<ExecutionSpace>>(instance);
}

#if defined(KOKKOS_ENABLE_SERIAL)
template std::unique_ptr<Executor> executor_of(const Kokkos::Serial&);
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
template std::unique_ptr<Executor> executor_of(const Kokkos::OpenMP&);
#endif
#if defined(KOKKOS_ENABLE_THREADS)
template std::unique_ptr<Executor> executor_of(const Kokkos::Threads&);
#endif
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
template std::unique_ptr<Executor> executor_of(const Kokkos::DefaultExecutionSpace&);
#endif

} // namespace kontor::comm
