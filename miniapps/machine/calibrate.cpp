// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/calibration.hpp"
#include "machine/cores.hpp"
#include "machine/distribution.hpp"
#include "machine/link.hpp"
#include "machine/stream.hpp"

#include <kontor/comm/reductions.hpp>

#include <algorithm>

namespace kontor::miniapp {
namespace {

void record_rates(nlohmann::ordered_json& json, const std::string& of, const StreamRates& rates) {
  json[of + "read_bandwidth"] = rates.read;
  json[of + "copy_bandwidth"] = rates.copy;
  json[of + "triad_bandwidth"] = rates.triad;
}

/// Collective. Times the link, and records it.
void measure(const comm::Communicator& comm, Partners partners, const std::string& of, nlohmann::ordered_json& json) {
  const auto link = time_link(comm, partners);
  json[of + "latency"] = link.latency;
  json[of + "bandwidth"] = link.bandwidth;
}

} // namespace

Calibration calibrate(const comm::Communicator& comm, bool huge_pages, const CalibrationRequest& request) {
  Calibration result;
  auto& json = result.record;
  json["huge_pages"] = huge_pages;
  const auto links = link_partners(comm);
  if (const auto near = links.of_one_node ? links.of_one_node : links.of_two_nodes) measure(comm, *near, "", json);
  if (links.of_two_nodes) measure(comm, *links.of_two_nodes, "internode_", json);
  json["oversubscribed"] = result.oversubscribed = cores_are_oversubscribed(comm);
  result.noise = measure_noise(comm);

  const auto largest = [&](double mine) { return comm::allreduce(comm, mine, comm::ReduceOp::max); };
  const double mine = std::min(std::max(request.working_set, least_streamed_bytes()), streamed_bytes(comm));
  const double vectors = largest(mine), working_set = largest(request.working_set);
  const int samples = result.oversubscribed ? 1 : 6; // where ranks take turns, no figure is compared with the rates
  json["vector_bytes"] = static_cast<std::int64_t>(vectors);
  record_rates(json, "", result.memory = stream_rates(comm, mine, huge_pages, samples));
  if (working_set > 0) json["working_set"] = static_cast<std::int64_t>(working_set);
  if (working_set > 0 && working_set < vectors) {
    result.in_working_set = stream_rates(comm, request.working_set, huge_pages, samples);
    record_rates(json, "working_set_", result.in_working_set);
  }
  if (request.gemm) {
    const auto& [block, precision, rate, library, optimised] = result.gemm.emplace(request.gemm(comm));
    json["gemm"] = {{"m", block.m},           {"n", block.n},       {"k", block.k},          {"rate", rate},
                    {"precision", precision}, {"library", library}, {"optimised", optimised}};
  }
  if (request.multiply_adds) json["multiply_adds"] = result.multiply_adds = request.multiply_adds(comm);
  return result;
}

} // namespace kontor::miniapp
