// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/agree.hpp"

#include <kontor/comm/error.hpp>

#include <mpi.h>

namespace kontor::comm::ipc {

/// Collective. Each rank does its part; if one of them fails, all throw UsageError with that one's text.
template <class Part>
void together(MPI_Comm comm, const Part& part) {
  try {
    mpi::agreed(comm, part);
  } catch (const AgreedError& error) {
    throw UsageError(error.what(), Axis::backend);
  }
}

} // namespace kontor::comm::ipc
