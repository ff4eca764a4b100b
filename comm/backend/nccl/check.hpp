// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/nccl/library.hpp"

#include <string>

namespace kontor::comm::nccl {

/// "unhandled cuda error (Cuda failure 'out of memory')": NCCL's name for the code, and its last words.
std::string error_text(ncclResult_t, ncclComm_t = nullptr);

/// Throws Error: `operation` failed, and the library's text.
[[noreturn]] void fail(ncclResult_t, const std::string& operation, ncclComm_t = nullptr);
[[noreturn]] void fail(cudaError_t, const std::string& operation);

/// Throws Error if `code`, what the function `operation` returned, is not success.
inline void check(ncclResult_t code, const char* operation, ncclComm_t comm = nullptr) {
  if (code != ncclSuccess) [[unlikely]]
    fail(code, operation, comm);
}
inline void check(cudaError_t code, const char* operation) {
  if (code != cudaSuccess) [[unlikely]]
    fail(code, operation);
}

/// Local. cudaSuccess if the stream has done all its work, cudaErrorNotReady if not, else what went wrong.
inline cudaError_t query(cudaStream_t stream) {
  const auto state = cudaStreamQuery(stream);
  if (state == cudaErrorNotReady)
    static_cast<void>(cudaGetLastError()); // or the next launch of a kernel would be blamed
  return state;
}

} // namespace kontor::comm::nccl
