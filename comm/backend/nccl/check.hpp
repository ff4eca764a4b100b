// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_check.hpp"

/// NVIDIA's NCCL, or AMD's RCCL, which has the same names.
#if defined(__HIP__)
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

#include <string>

namespace kontor::comm::nccl {

/// "unhandled cuda error (Cuda failure 'out of memory')": NCCL's name for the code, and its last words.
std::string error_text(ncclResult_t, ncclComm_t = nullptr);

/// Throws Error: `operation` failed, and the library's text.
[[noreturn]] void fail(ncclResult_t, const std::string& operation, ncclComm_t = nullptr);

using comm::check; // of the runtime library

/// Throws Error if `code`, what the function `operation` returned, is not success.
inline void check(ncclResult_t code, const char* operation, ncclComm_t comm = nullptr) {
  if (code != ncclSuccess) [[unlikely]]
    fail(code, operation, comm);
}
} // namespace kontor::comm::nccl
