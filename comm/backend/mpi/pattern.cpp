// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/pattern.hpp"

namespace kontor::comm::mpi {

PlannedExchange make_plan(const BackendContext& context, const Schedule& schedule) {
  switch (schedule.pattern) {
  case Pattern::blocking: return {make_blocking(context, messages(schedule))};
  case Pattern::persistent: return {make_persistent(context, messages(schedule))};
  case Pattern::neighborhood: return {make_neighborhood(context, messages(schedule))};
  case Pattern::rma: return make_rma(context, schedule);
  case Pattern::nonblocking:
  case Pattern::automatic: break;
  }
  return {make_nonblocking(context, messages(schedule))};
}

} // namespace kontor::comm::mpi
