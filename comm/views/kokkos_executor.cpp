// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/views/kokkos_executor.hpp>

namespace kontor::comm {

template class KokkosExecutor<Kokkos::DefaultExecutionSpace>;
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
template class KokkosExecutor<Kokkos::DefaultHostExecutionSpace>; // another space
#endif

} // namespace kontor::comm
