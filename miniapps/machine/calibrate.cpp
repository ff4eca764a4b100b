// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/calibration.hpp"
#include "machine/cores.hpp"
#include "machine/link.hpp"
#include "machine/simulation.hpp"
#include "machine/stream.hpp"

#include <kontor/comm/reductions.hpp>

#include <algorithm>

namespace kontor::miniapp {
namespace {

/// Where ranks take turns no figure is compared with the rates: one sample of each way is enough.
int samples_of(const Calibration& machine) { return machine.oversubscribed ? 1 : 6; }

} // namespace

Calibration calibrate(const comm::Communicator& comm, bool huge_pages) {
  Calibration result;
  result.huge_pages = huge_pages;
  if (!simulated) { // else nothing that is computed takes time
    result.oversubscribed = cores_are_oversubscribed(comm);
    result.memory = stream_rates(comm, streamed_bytes(comm), huge_pages, samples_of(result));
    result.noise = measure_noise(comm);
  }
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
  return result;
}

Calibration calibrate_for(const comm::Communicator& comm, const CalibrationRequest& request, Calibration result) {
  if (simulated) return result;
  result.working_set = comm::allreduce(comm, request.working_set, comm::ReduceOp::max);
  if (result.working_set > 0 && result.working_set < streamed_bytes(comm))
    result.in_working_set = stream_rates(comm, request.working_set, result.huge_pages, samples_of(result));
  const double message = comm::allreduce(comm, request.message, comm::ReduceOp::max);
  if (message > timed_message) {
    const auto links = link_partners(comm);
    if (const auto partners = links.of_two_nodes ? links.of_two_nodes : links.of_one_node) {
      result.large_message = std::min(message, largest_message);
      result.large_bandwidth = large_bandwidth(comm, *partners, result.large_message);
    }
  }
  if (request.gemm) result.gemm = request.gemm(comm);
  if (request.multiply_adds) result.multiply_adds = request.multiply_adds(comm);
  return result;
}

} // namespace kontor::miniapp
