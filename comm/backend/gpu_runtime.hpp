// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>

/// The runtime library of the GPU's maker, under CUDA's names, and its errors: with HIP each name stands for HIP's own.
/// Backends `nccl` and `ipc` are written in these names.
#if defined(__HIP__)

#include <hip/hip_runtime.h>

#define cudaDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaDeviceProp hipDeviceProp_t
#define cudaErrorAlreadyMapped hipErrorAlreadyMapped
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorNotSupported hipErrorNotSupported
#define cudaError_t hipError_t
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorName hipGetErrorName
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaHostAlloc hipHostMalloc
#define cudaHostAllocDefault hipHostMallocDefault
#define cudaIpcCloseMemHandle hipIpcCloseMemHandle
#define cudaIpcGetMemHandle hipIpcGetMemHandle
#define cudaIpcMemHandle_t hipIpcMemHandle_t
#define cudaIpcMemLazyEnablePeerAccess hipIpcMemLazyEnablePeerAccess
#define cudaIpcOpenMemHandle hipIpcOpenMemHandle
#define cudaLaunchKernel hipLaunchKernel
#define cudaMalloc hipMalloc
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemsetAsync hipMemsetAsync
#define cudaPointerAttributes hipPointerAttribute_t
#define cudaPointerGetAttributes hipPointerGetAttributes
#define cudaStreamCaptureStatusNone hipStreamCaptureStatusNone
#define cudaStreamGetPriority hipStreamGetPriority
#define cudaStreamIsCapturing hipStreamIsCapturing
#define cudaStreamQuery hipStreamQuery
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess

#else

#include <cuda_runtime_api.h>

#endif

namespace kontor::comm {

/// Throws Error: `operation` failed, and the library's text.
[[noreturn]] inline void fail(cudaError_t code, const std::string& operation) {
  static_cast<void>(cudaGetLastError()); // or the next launch of a kernel would be blamed
  throw Error(operation + " failed: " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")", "E-GPU-CALL");
}

/// Throws Error if `code`, what the function `operation` returned, is not success.
inline void check(cudaError_t code, const std::string& operation) {
  if (code != cudaSuccess) [[unlikely]]
    fail(code, operation);
}

/// Local. cudaSuccess if all work is done, cudaErrorNotReady if not, else what went wrong.
inline cudaError_t query(cudaStream_t stream) {
  const auto code = cudaStreamQuery(stream);
  if (code == cudaErrorNotReady) static_cast<void>(cudaGetLastError()); // it is no error
  return code;
}

/// Local. Whether what the stream is given is captured.
inline bool is_captured(cudaStream_t stream) {
  auto status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

} // namespace kontor::comm
