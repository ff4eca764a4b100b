// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pattern.hpp"

namespace kontor::comm::mpi {

std::unique_ptr<Plan> make_plan(const BackendContext& context, Schedule& schedule) {
  switch (context.options.pattern) {
  case Pattern::blocking: return make_blocking(context, messages(schedule));
  case Pattern::persistent: return make_persistent(context, messages(schedule));
  case Pattern::neighborhood: return make_neighborhood(context, messages(schedule));
  case Pattern::rma: return make_rma(context, schedule);
  case Pattern::nonblocking:
  case Pattern::automatic: break;
  }
  return make_nonblocking(context, messages(schedule));
}

} // namespace kontor::comm::mpi
