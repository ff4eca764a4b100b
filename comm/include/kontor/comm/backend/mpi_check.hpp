// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>

namespace kontor::comm::mpi {

/// MPI's own text for an error code.
std::string error_text(int code);

/// Throws Error: `operation` failed, and MPI's text.
[[noreturn]] void fail(int code, const std::string& operation);

/// Throws Error if `code`, what the MPI function `operation` returned, is not success.
inline void check(int code, const char* operation) {
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, operation);
}

/// Local. Whether MPI has ended, after which nothing of its can be freed.
bool finalized();

} // namespace kontor::comm::mpi
