// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>

/// Threads of kernels that wait for each other: which ones run at once, and which pass values on without memory.
namespace kontor::device {

/// Local. So many teams of a kernel of the default space run at once, whatever they need, if one fits: a
/// multiprocessor, none of which has more than 2048 threads, is each one's own. A host has one.
inline int resident_teams() {
  return kernels_on_host ? 1 : std::max(1, static_cast<int>(Kokkos::DefaultExecutionSpace().concurrency()) / 2048);
}

/// So many of them have consecutive ranks in a team, which must have a multiple; a host's work alone.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
inline constexpr int lanes = 32;
#else
inline constexpr int lanes = 1;
#endif

/// By all lanes together. What the lane before (-1) or after (1) has; where there is none, anything.
template <int step, class T>
KOKKOS_INLINE_FUNCTION T from_lane(T value) {
#if defined(__CUDA_ARCH__)
  return step < 0 ? __shfl_up_sync(0xffffffffu, value, 1) : __shfl_down_sync(0xffffffffu, value, 1);
#elif defined(__HIP_DEVICE_COMPILE__)
  return step < 0 ? __shfl_up(value, 1, lanes) : __shfl_down(value, 1, lanes);
#else
  return value;
#endif
}

/// By all lanes together. The sum of what they have, with the same bits for each.
KOKKOS_INLINE_FUNCTION double sum_of_lanes(double value) {
  for (int other = lanes / 2; other > 0; other /= 2) {
#if defined(__CUDA_ARCH__)
    value += __shfl_xor_sync(0xffffffffu, value, other);
#elif defined(__HIP_DEVICE_COMPILE__)
    value += __shfl_xor(value, other, lanes);
#endif
  }
  return value;
}

} // namespace kontor::device
