// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/link.hpp"

#include "machine/baseline_communicator.hpp"
#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/comm/exchange.hpp>
#include <kontor/comm/gather.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace kontor::miniapp {
namespace {

using Vector = Kokkos::View<double*>;

/// Collective. Seconds one way, the best of the repeats, which are fewer where they would take a quarter of a second.
double one_way_seconds(const comm::Communicator& all, Partners partners, std::size_t elements, int repeats) {
  const auto raw = baseline_communicator(all);
  const auto& comm = !device::kernels_on_host && all.capabilities().moves_data ? all : raw;
  const auto [first, second] = partners;
  const int me = comm.rank();
  const Kokkos::DefaultExecutionSpace instance;
  const std::size_t mine = me == first || me == second ? elements : 0;
  const Vector there("calibrate/send", mine);
  const Vector back("calibrate/receive", mine);
  comm::Exchange<Vector> ping(comm, "calibrate/ping");
  comm::Exchange<Vector> pong(comm, "calibrate/pong");
  ping.add(there, me == first ? second : comm::no_rank, back, me == second ? first : comm::no_rank);
  pong.add(there, me == second ? first : comm::no_rank, back, me == first ? second : comm::no_rank);
  ping.commit();
  pong.commit();
  double best = 0;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    comm::Stopwatch watch;
    double seconds = 0;
    ping.start();
    ping.finish();
    pong.start();
    pong.finish();
    device::fence(instance, "calibrate/received"); // a device may still be moving them
    watch.lap(seconds);
    if (repeat < 0) continue; // the first one also opens the connection
    best = repeat == 0 ? seconds : std::min(best, seconds);
    if (repeat > 0) continue;
    const double agreed = comm::allreduce(comm, me == first ? seconds : 0, comm::ReduceOp::max);
    repeats = static_cast<int>(std::min<double>(repeats, 1 + 0.25 / agreed));
  }
  return comm::allreduce(comm, me == first ? best / 2 : 0, comm::ReduceOp::max);
}

} // namespace

LinkPartners choose_partners(std::span<const int> nodes) {
  LinkPartners partners;
  const int ranks = static_cast<int>(nodes.size());
  for (int first = 0; first < ranks && !partners.of_one_node; ++first) {
    const auto second = std::find(nodes.begin() + first + 1, nodes.end(), nodes[first]);
    if (second != nodes.end()) partners.of_one_node = {first, static_cast<int>(second - nodes.begin())};
  }
  const auto elsewhere = std::find_if(nodes.begin(), nodes.end(), [&](int node) { return node != nodes[0]; });
  if (elsewhere != nodes.end()) partners.of_two_nodes = {0, static_cast<int>(elsewhere - nodes.begin())};
  return partners;
}

LinkPartners link_partners(const comm::Communicator& comm) {
  const auto node = node_communicator(comm);
  const int number = comm::allreduce(node, comm.rank(), comm::ReduceOp::min); // its first rank's
  return choose_partners(comm::allgather(comm, number));
}

std::string names_of(const comm::Communicator& comm, Partners partners) {
  const auto [first, second] = partners;
  const bool partner = comm.rank() == first || comm.rank() == second;
  const auto hosts = gather_texts(comm, partner ? host_name() : std::string());
  if (comm.rank() != 0) return {};
  const auto &one = hosts.at(first), &other = hosts.at(second);
  if (one == other) return fmt::format("ranks {} and {} of {}", first, second, one);
  return fmt::format("rank {} of {} and rank {} of {}", first, one, second, other);
}

Link time_link(const comm::Communicator& comm, Partners partners) {
  constexpr std::size_t elements = (2 << 20) / sizeof(double);
  return {one_way_seconds(comm, partners, 1, 200),
          static_cast<double>(elements * sizeof(double)) / one_way_seconds(comm, partners, elements, 10)};
}

} // namespace kontor::miniapp
