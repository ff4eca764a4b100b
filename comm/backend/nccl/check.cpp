// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/nccl/check.hpp"

#include <algorithm>

namespace kontor::comm::nccl {

std::string error_text(ncclResult_t code, ncclComm_t comm) {
  const char* last = ncclGetLastError(comm);
  std::string words = last ? last : "";
  std::ranges::replace(words, '\n', ' ');
  words.erase(words.find_last_not_of(' ') + 1);
  if (words.empty()) return ncclGetErrorString(code);
  return fmt::format("{} ({})", ncclGetErrorString(code), words);
}

void fail(ncclResult_t code, const std::string& operation, ncclComm_t comm) {
  throw Error(fmt::format("{} failed: {}", operation, error_text(code, comm)), "E-GPU-CALL");
}

} // namespace kontor::comm::nccl
