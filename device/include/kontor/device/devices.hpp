// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/gpu.hpp>
#if defined(KONTOR_GPU)
#include <kontor/device/uuid.hpp>
#endif

#include <cstddef>
#include <string>

/// What Kokkos does not say of devices: how many there are, which they are, what memory they have.
namespace kontor::device {

/// What a device is called and which one it is, equal on all ranks that use it.
struct DeviceIdentity {
  std::string name; ///< "NVIDIA H200"; empty if there is none
  std::string uuid; ///< 32 hexadecimal digits; empty if it has none
};

/// Bytes of a device's memory.
struct DeviceMemory {
  std::size_t free = 0;  ///< of all that use the device
  std::size_t total = 0; ///< there is
};

/// Local. The devices that this process can use.
inline int device_count() {
  int count = 0;
#if defined(KONTOR_GPU)
  if (KONTOR_GPU(GetDeviceCount)(&count) != KONTOR_GPU(Success)) return 0;
#endif
  return count;
}

/// Local. Why there is no device that a build for devices could use; empty if there is one, or need not be.
inline std::string device_problem() {
#if defined(KONTOR_GPU)
  int count = 0;
  const auto code = KONTOR_GPU(GetDeviceCount)(&count);
  if (code != KONTOR_GPU(Success)) return KONTOR_GPU(GetErrorString)(code);
  if (count == 0) return "no device is visible";
#endif
  return {};
}

/// Local. The device of Kokkos' default instance.
inline DeviceIdentity device_identity() {
#if defined(KONTOR_GPU)
  int device = 0;
  detail::check_gpu(KONTOR_GPU(GetDevice)(&device), "GetDevice");
#if defined(KOKKOS_ENABLE_CUDA)
  cudaDeviceProp properties;
#else
  hipDeviceProp_t properties;
#endif
  detail::check_gpu(KONTOR_GPU(GetDeviceProperties)(&properties, device), "GetDeviceProperties");
  GpuUuid uuid;
  detail::check_gpu(get_uuid(uuid, device), "GetDeviceProperties");
  return {properties.name, to_string(uuid)};
#else
  return {};
#endif
}

/// Local. Of the device of Kokkos' default instance.
inline DeviceMemory device_memory() {
  DeviceMemory memory;
#if defined(KONTOR_GPU)
  detail::check_gpu(KONTOR_GPU(MemGetInfo)(&memory.free, &memory.total), "MemGetInfo");
#endif
  return memory;
}

} // namespace kontor::device
