// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/mpi/check.hpp>

#include <fmt/format.h>

namespace kontor::comm::mpi {

std::string error_text(int code) { return kontor::mpi::error_text(code); }

void fail(int code, const std::string& operation) {
  throw MpiError(fmt::format("{} failed: {}", operation, error_text(code)));
}

void take_back(MPI_Request& request) noexcept {
  check_or_terminate(MPI_Cancel(&request), "MPI_Cancel");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

bool finalized() {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended != 0;
}

} // namespace kontor::comm::mpi
