// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/calibration.hpp"
#include "machine/cores.hpp"
#include "machine/link.hpp"
#include "machine/simulation.hpp"
#include "machine/stream.hpp"

#include <kontor/comm/reductions.hpp>

namespace kontor::miniapp {
namespace {

/// Where ranks take turns no figure is compared with the rates: one sample of each way is enough.
int samples_of(const Calibration& machine) { return machine.oversubscribed ? 1 : 6; }

} // namespace

Calibration calibrate(const comm::Communicator& comm, bool huge_pages, const CalibrationRequest& request) {
  Calibration result;
  result.huge_pages = huge_pages;
  const auto links = link_partners(comm);
  if (const auto partners = links.of_one_node ? links.of_one_node : links.of_two_nodes) {
    const auto link = time_link(comm, *partners);
    result.latency = link.latency;
    result.bandwidth = link.bandwidth;
    result.link = names_of(comm, *partners);
  }
  if (links.of_two_nodes) {
    const auto link = links.of_one_node ? time_link(comm, *links.of_two_nodes) : Link{result.latency, result.bandwidth};
    result.internode_latency = link.latency;
    result.internode_bandwidth = link.bandwidth;
    result.internode_link = names_of(comm, *links.of_two_nodes);
  }
  if (simulated) return result; // nothing that is computed takes time
  result.oversubscribed = cores_are_oversubscribed(comm);
  result.noise = measure_noise(comm);

  const auto largest = [&](double mine) { return comm::allreduce(comm, mine, comm::ReduceOp::max); };
  const double mine = std::min(std::max(request.working_set, least_streamed_bytes()), streamed_bytes(comm));
  result.vector_bytes = largest(mine);
  result.memory = stream_rates(comm, mine, huge_pages, samples_of(result));
  result.working_set = largest(request.working_set);
  if (result.working_set > 0 && result.working_set < result.vector_bytes)
    result.in_working_set = stream_rates(comm, request.working_set, huge_pages, samples_of(result));
  // No longer than a tenth of a second is on its way.
  const double fast = links.of_two_nodes ? result.internode_bandwidth : result.bandwidth;
  const double message = std::min({largest(request.message), largest_message, fast / 10});
  if (message > timed_message) {
    result.large_message = message;
    result.large_bandwidth =
        large_bandwidth(comm, links.of_two_nodes ? *links.of_two_nodes : *links.of_one_node, message);
  }
  if (request.gemm) result.gemm = request.gemm(comm);
  if (request.multiply_adds) result.multiply_adds = request.multiply_adds(comm);
  return result;
}

} // namespace kontor::miniapp
