// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"

#include <cstdint>

#if !defined(__HIP__)
#include <cuda/atomic>
#endif

/// What NVIDIA's and AMD's device code name differently: atomic numbers, the clock, a pause.
namespace kontor::comm::ipc {

#if defined(__HIP__)

#define KONTOR_GRID_CONSTANT

struct MemoryOrder {
  int value;
};
constexpr MemoryOrder memory_order_relaxed{__ATOMIC_RELAXED};
constexpr MemoryOrder memory_order_acquire{__ATOMIC_ACQUIRE};
constexpr MemoryOrder memory_order_release{__ATOMIC_RELEASE};
constexpr MemoryOrder memory_order_acq_rel{__ATOMIC_ACQ_REL};

/// A number that other threads use at the same time, with the interface of cuda::atomic_ref.
template <class T, int scope>
class AtomicRef {
 public:
  __device__ explicit AtomicRef(T& number) : number_(&number) {}
  __device__ T load(MemoryOrder order) const { return __hip_atomic_load(number_, order.value, scope); }
  __device__ void store(T value, MemoryOrder order) const {
    __hip_atomic_store(number_, value, order.value, scope);
  }
  __device__ T fetch_add(T value, MemoryOrder order) const {
    return __hip_atomic_fetch_add(number_, value, order.value, scope);
  }

 private:
  T* number_;
};
template <class T>
using DeviceAtomic = AtomicRef<T, __HIP_MEMORY_SCOPE_AGENT>;
template <class T>
using SystemAtomic = AtomicRef<T, __HIP_MEMORY_SCOPE_SYSTEM>;

/// A counter of 100 MHz, the same for the whole device.
__device__ inline std::uint64_t nanoseconds() {
  return 10 * __builtin_amdgcn_s_memrealtime();
}
/// Some tens of cycles.
__device__ inline void pause() {
  __builtin_amdgcn_s_sleep(1);
}

#else

#define KONTOR_GRID_CONSTANT __grid_constant__

template <class T>
using DeviceAtomic = cuda::atomic_ref<T, cuda::thread_scope_device>;
template <class T>
using SystemAtomic = cuda::atomic_ref<T, cuda::thread_scope_system>;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;

__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
__device__ inline void pause() {
  __nanosleep(20);
}

#endif

} // namespace kontor::comm::ipc
