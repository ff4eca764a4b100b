// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/mpi_backend.hpp"

namespace kontor::comm::mpi {

OwnMemory MpiBackend::own_memory(int /*peer*/, Pattern pattern) const {
  return {.receives = mpi::own_memory.has(pattern)};
}

PlannedExchange MpiBackend::plan(const Schedule& schedule) {
  switch (schedule.pattern) {
  case Pattern::blocking: return {make_blocking(context_, messages(schedule))};
  case Pattern::persistent: return {make_persistent(context_, messages(schedule))};
  case Pattern::neighborhood: return {make_neighborhood(context_, messages(schedule))};
  case Pattern::rma: return make_rma(context_, schedule);
  case Pattern::nonblocking:
  case Pattern::automatic: break;
  }
  return {make_nonblocking(context_, messages(schedule))};
}

} // namespace kontor::comm::mpi
