// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

/// Numbers by which threads of several processes and devices tell each other how far they are: in kernels as on a host.
namespace kontor::device {

/// Functions of kernels and of hosts. KONTOR_EITHER_TEMPLATE stands before templates whose arguments have functions of
/// one of the two alone.
#if defined(__CUDACC__)
#define KONTOR_EITHER __host__ __device__ inline
#define KONTOR_EITHER_TEMPLATE _Pragma("nv_exec_check_disable")
#elif defined(__HIPCC__)
#define KONTOR_EITHER __host__ __device__ inline
#define KONTOR_EITHER_TEMPLATE
#else
#define KONTOR_EITHER inline
#define KONTOR_EITHER_TEMPLATE
#endif

/// What has been done; it only grows.
using Counter = std::uint64_t;

/// What other processes and devices have written before they stored what is found here can be read afterwards.
KONTOR_EITHER Counter load_acquire(const Counter& counter) {
#if defined(__CUDA_ARCH__)
  Counter value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(&counter) : "memory");
  return value;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(&counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  return std::atomic_ref(const_cast<Counter&>(counter)).load(std::memory_order_acquire);
#endif
}

/// What this thread has written before, and what it knows that its team has written, others can read who find the
/// value.
KONTOR_EITHER void store_release(Counter& counter, Counter value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(&counter), "l"(value) : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(&counter, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  std::atomic_ref(counter).store(value, std::memory_order_release);
#endif
}

/// The same for readers on this device.
KONTOR_EITHER void store_release_on_device(Counter& counter, Counter value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(&counter), "l"(value) : "memory");
#else
  store_release(counter, value);
#endif
}

/// What teams of one kernel have done. As a release and an acquire, for readers on this device.
KONTOR_EITHER void add_release_on_device(unsigned& count, unsigned more) {
#if defined(__CUDA_ARCH__)
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(&count), "r"(more) : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_fetch_add(&count, more, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
#else
  std::atomic_ref(count).fetch_add(more, std::memory_order_release);
#endif
}
/// See add_release_on_device().
KONTOR_EITHER unsigned load_acquire_on_device(const unsigned& count) {
#if defined(__CUDA_ARCH__)
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(&count) : "memory");
  return value;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(&count, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
#else
  return std::atomic_ref(const_cast<unsigned&>(count)).load(std::memory_order_acquire);
#endif
}

/// What this thread has written, and what it knows that others have, is visible to all before what it writes next.
KONTOR_EITHER void fence_system() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
#else
  std::atomic_thread_fence(std::memory_order_acq_rel);
#endif
}

/// A number that orders nothing.
KONTOR_EITHER std::uint64_t load_relaxed(const std::uint64_t& number) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(&number) : "memory");
  return value;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(&number, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  return std::atomic_ref(const_cast<std::uint64_t&>(number)).load(std::memory_order_relaxed);
#endif
}
/// The same.
KONTOR_EITHER void store_relaxed(std::uint64_t& number, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(&number), "l"(value) : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(&number, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  std::atomic_ref(number).store(value, std::memory_order_relaxed);
#endif
}

/// Of a clock that only differences of are known.
KONTOR_EITHER std::uint64_t nanoseconds() {
#if defined(__CUDA_ARCH__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#elif defined(__HIP_DEVICE_COMPILE__)
  return 10 * __builtin_amdgcn_s_memrealtime();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Between looks at a number: a host gives its core to others.
KONTOR_EITHER void pause() {
#if defined(__CUDA_ARCH__)
  __nanosleep(20);
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_s_sleep(1);
#else
  std::this_thread::yield();
#endif
}

} // namespace kontor::device
