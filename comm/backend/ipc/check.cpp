// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/check.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

namespace kontor::comm::ipc {

void fail(cudaError_t code, const std::string& operation) {
  static_cast<void>(cudaGetLastError()); // or the next one to ask would take it for an error of its own
  throw Error(fmt::format("{} failed: {} ({})", operation, cudaGetErrorString(code), cudaGetErrorName(code)));
}

} // namespace kontor::comm::ipc
