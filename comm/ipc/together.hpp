// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/agree.hpp"

#include <kontor/comm/error.hpp>

#include <mpi.h>

#include <optional>
#include <string>

namespace kontor::comm::ipc {

/// Collective. Each rank does its part; if one of them fails, all throw UsageError with that one's text.
template <class Part>
void together(MPI_Comm comm, const Part& part) {
  std::optional<std::string> problem;
  try {
    part();
  } catch (const Error& error) {
    problem = error.what();
  }
  try {
    mpi::agree(comm, problem);
  } catch (const AgreedError& error) {
    throw UsageError(error.what());
  }
}

} // namespace kontor::comm::ipc
