// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <mpi.h>

#include <algorithm>
#include <string>

/// Errors of MPI, and errors that one rank makes all ranks'. `Error` is the exception of the caller's library, made
/// from a text.
namespace kontor::mpi {

/// Local. MPI's own text for an error code, in one line.
inline std::string error_text(int code) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  text.resize(static_cast<std::size_t>(length));
  std::replace(text.begin(), text.end(), '\n', ' '); // MPICH's has the stack of its calls
  return text;
}

/// Local. Throws Error if `code`, what the MPI function `operation` returned, is not success.
template <class Error>
void check(int code, const char* operation) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw Error(errors::with_id(std::string(operation) + " failed: " + error_text(code), "E-MPI-CALL"));
}

} // namespace kontor::mpi
