// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pattern.hpp"

namespace kontor::comm::mpi {

std::unique_ptr<Plan> make_plan(const MpiHandle& handle, Schedule& schedule) {
  switch (handle.options.pattern) {
  case Pattern::blocking: return make_blocking(handle, messages(schedule));
  case Pattern::persistent: return make_persistent(handle, messages(schedule));
  case Pattern::neighborhood: return make_neighborhood(handle, messages(schedule));
  case Pattern::rma: return make_rma(handle, schedule);
  case Pattern::nonblocking:
  case Pattern::automatic: break;
  }
  return make_nonblocking(handle, messages(schedule));
}

} // namespace kontor::comm::mpi
