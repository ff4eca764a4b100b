// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

/// Threads that work in step and pass values to each other without memory.
namespace kontor::device {

/// So many of them have consecutive ranks in a team, which must have a multiple; a host's work alone.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
inline constexpr int lanes = 32;
#else
inline constexpr int lanes = 1;
#endif

/// By all lanes together. What the lane before has; at the first one, anything.
template <class T>
KOKKOS_INLINE_FUNCTION T from_lane_before(T value) {
#if defined(__CUDA_ARCH__)
  return __shfl_up_sync(0xffffffffu, value, 1);
#elif defined(__HIP_DEVICE_COMPILE__)
  return __shfl_up(value, 1, lanes);
#else
  return value;
#endif
}

/// The same of the lane after; at the last one, anything.
template <class T>
KOKKOS_INLINE_FUNCTION T from_lane_after(T value) {
#if defined(__CUDA_ARCH__)
  return __shfl_down_sync(0xffffffffu, value, 1);
#elif defined(__HIP_DEVICE_COMPILE__)
  return __shfl_down(value, 1, lanes);
#else
  return value;
#endif
}

} // namespace kontor::device
