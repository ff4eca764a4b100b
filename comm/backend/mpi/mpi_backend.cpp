// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/mpi_backend.hpp"

#include "backend/mpi/pattern.hpp"

#include <kontor/comm/error.hpp>

namespace kontor::comm::mpi {

OwnMemory MpiBackend::own_memory(int /*peer*/, Pattern pattern) const {
  return {.receives = mpi::own_memory.has(pattern)};
}

PlannedExchange MpiBackend::plan(const Schedule& schedule) {
  return make_plan(context_, schedule);
}

} // namespace kontor::comm::mpi
