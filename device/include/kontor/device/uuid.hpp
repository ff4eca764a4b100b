// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstring>
#include <string>

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#elif __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif

/// Which GPU it is, from the runtime library of its maker: included only where there is one. No Kokkos in this file.
namespace kontor::device {

/// Equal in all processes that use the GPU.
using GpuUuid = std::array<unsigned char, 16>;

#if defined(__HIP__) || __has_include(<cuda_runtime_api.h>)
/// Local. The UUID of the GPU with this ordinal. Returns the runtime's code for an error.
inline auto get_uuid(GpuUuid& uuid, int device) {
#if defined(__HIP__)
  hipUUID found; // not among the properties of HIP 5
  const auto code = hipDeviceGetUuid(&found, device);
  const auto& bytes = found.bytes;
#else
  cudaDeviceProp properties;
  const auto code = cudaGetDeviceProperties(&properties, device);
  const auto& bytes = properties.uuid.bytes;
#endif
  static_assert(sizeof bytes == sizeof uuid);
  if (code == decltype(code){}) std::memcpy(uuid.data(), bytes, sizeof uuid); // 0: success
  return code;
}
#endif

/// 32 hexadecimal digits.
inline std::string to_string(const GpuUuid& uuid) {
  std::string text;
  for (const auto byte : uuid) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace kontor::device
