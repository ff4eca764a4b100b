// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::comm::mpi {

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return fmt::format("MPI error {}", code);
  std::string line(text, static_cast<std::size_t>(length));
  std::ranges::replace(line, '\n', ' '); // MPICH's has the stack of its calls
  return line;
}

void fail(int code, const std::string& operation) {
  throw Error(fmt::format("{} failed: {}", operation, error_text(code)));
}

bool finalized() {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended != 0;
}

} // namespace kontor::comm::mpi
