// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace kontor::miniapp {

/// Local. From now on the host's threads compute with 0 in place of denormal numbers (below 1.2e-38 in single, 2.3e-308
/// in double precision), each operation on which takes an x86 processor some hundred cycles. Ahead of a wave all values
/// are such. Without effect on other processors and devices, which need no more time for them.
inline void flush_denormals() {
#if defined(__SSE2__)
  using Host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for("flush denormals", Kokkos::RangePolicy<Host>(0, Host().concurrency()), // one for each thread
                       [](int) { _mm_setcsr(_mm_getcsr() | 0x8040); });                       // FTZ and DAZ
  Kokkos::fence();
#endif
}

} // namespace kontor::miniapp
