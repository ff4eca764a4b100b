// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stepping/graph_choice.hpp"

#include <kontor/comm/collectives.hpp>

#include <Kokkos_Core.hpp>

namespace kontor::stepping {

bool wants_graph(const comm::Communicator& comm, const config::Chosen<Launch>& wanted,
                 const std::optional<std::string>& refusal) {
  if (wanted == Launch::each || wanted == Launch::persistent) return false;
  if (wanted == Launch::graph) {
    if (refusal) wanted.location.fail(fmt::format("is graph, but {}; choose auto or each", *refusal));
    return true;
  }
  if (refusal) return false;
  const int tool = Kokkos::Profiling::profileLibraryLoaded() ? 1 : 0;
  return comm::allreduce(comm, tool, comm::ReduceOp::max) == 0;
}

} // namespace kontor::stepping
