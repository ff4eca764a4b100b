// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

namespace kontor::miniapp {

/// Collective. The same ranks by backend `raw`, with the same checks: where waits have a timeout, its have it, too.
inline comm::Communicator baseline_communicator(const comm::Communicator& comm) {
  comm::Options options;
  options.check = comm.options().check;
  options.timeout = comm.options().timeout;
  return comm::Communicator(comm.native(), options);
}

} // namespace kontor::miniapp
