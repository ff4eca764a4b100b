// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

/// Errors of the GPU's runtime library.
namespace kontor::comm {

/// Throws Error: `operation` failed, and the library's text.
[[noreturn]] inline void fail(cudaError_t code, const std::string& operation) {
  static_cast<void>(cudaGetLastError()); // or the next launch of a kernel would be blamed
  throw Error(fmt::format("{} failed: {} ({})", operation, cudaGetErrorString(code), cudaGetErrorName(code)),
              "E-GPU-CALL");
}

/// Throws Error if `code`, what the function `operation` returned, is not success.
inline void check(cudaError_t code, const std::string& operation) {
  if (code != cudaSuccess) [[unlikely]]
    fail(code, operation);
}

namespace detail {
inline cudaError_t query_result(cudaError_t code) {
  if (code == cudaErrorNotReady) static_cast<void>(cudaGetLastError()); // it is no error
  return code;
}
} // namespace detail

/// Local. cudaSuccess if all work is done, cudaErrorNotReady if not, else what went wrong.
inline cudaError_t query(cudaStream_t stream) { return detail::query_result(cudaStreamQuery(stream)); }
inline cudaError_t query(cudaEvent_t event) { return detail::query_result(cudaEventQuery(event)); }

/// Local. Whether what the stream is given is captured.
inline bool is_captured(cudaStream_t stream) {
  auto status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

} // namespace kontor::comm
