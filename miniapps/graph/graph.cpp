// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/graph.hpp"

#include "graph/apps.hpp"
#include "machine/memory.hpp"
#include "machine/node.hpp"

#include <kontor/device/compat.hpp>

#include <fmt/format.h>

namespace kontor::graph {

void require_host_memory(const comm::Communicator& comm, const Options& o) {
  const double bytes = o.bytes_of_rank(comm.size());
  if (device::kernels_on_host) return miniapp::require_memory(comm, bytes);
  const double free = miniapp::free_host_memory() / miniapp::node_communicator(comm).size();
  std::optional<std::string> problem;
  if (bytes > free)
    problem =
        fmt::format("a rank takes {:.4g} GB of host memory, and {:.4g} GB are free for it", bytes / 1e9, free / 1e9);
  comm.agree(problem);
}

std::unique_ptr<miniapp::MiniApp> make_graph(const Options& options, const miniapp::RunContext& context) {
  switch (options.algorithm) {
  case Algorithm::particles: return make_particles(options, context);
  case Algorithm::sort: return make_sort(options, context);
  case Algorithm::search: break;
  }
  return make_search(options, context);
}

} // namespace kontor::graph
