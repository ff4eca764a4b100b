// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stepping/launch_refusal.hpp"

#include "machine/device.hpp"

#include <kontor/comm/collectives.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

namespace kontor::stepping {

std::optional<std::string> graph_refusal(const comm::Communicator& comm, const comm::ExchangeBase& exchange) {
  if (comm.size() == 1 && exchange.sent().empty()) return std::nullopt; // no messages
  if (!exchange.stream_ordered())
    return fmt::format("the host takes part in each message by backend '{}'", exchange.chosen().backend);
  if (exchange.chosen().check == comm::CheckLevel::cross_rank)
    return std::string("with comm.check cross_rank the host compares the ranks in each step");
  return std::nullopt;
}

bool tool_listens(const comm::Communicator& comm) {
  const int tool = Kokkos::Profiling::profileLibraryLoaded() ? 1 : 0;
  return comm::allreduce(comm, tool, comm::ReduceOp::max) > 0;
}

bool ranks_share_device(const comm::Communicator& comm) {
  return comm::allreduce(comm, miniapp::ranks_of_memory(comm).size(), comm::ReduceOp::max) > 1;
}

} // namespace kontor::stepping
