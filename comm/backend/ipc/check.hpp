// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"

#include <string>

namespace kontor::comm::ipc {

/// Throws Error: `operation` failed, and CUDA's text.
[[noreturn]] void fail(cudaError_t code, const std::string& operation);

/// Throws Error if `code`, what the CUDA function `operation` returned, is not success.
inline void check(cudaError_t code, const std::string& operation) {
  if (code != cudaSuccess) [[unlikely]]
    fail(code, operation);
}

} // namespace kontor::comm::ipc
