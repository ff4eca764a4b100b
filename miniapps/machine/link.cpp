// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/link.hpp"

#include "machine/baseline_communicator.hpp"
#include "machine/node.hpp"
#include "machine/stream.hpp"

#include <kontor/comm/exchange.hpp>
#include <kontor/comm/gather.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>

namespace kontor::miniapp {
namespace {

using Vector = Kokkos::View<double*>;

/// Collective. Seconds one way, of so many round trips in a sample.
double one_way_seconds(const comm::Communicator& all, Partners partners, std::size_t elements, int times) {
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
  const auto round_trip = [&] {
    ping.start();
    ping.finish();
    pong.start();
    pong.finish();
    device::fence(instance, "calibrate/received"); // a device may still be moving them
  };
  round_trip(); // opens the connection
  return least_seconds(comm, times, 10, {round_trip}) / 2;
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

Link time_link(const comm::Communicator& comm, Partners partners) {
  constexpr std::size_t elements = (2 << 20) / sizeof(double);
  return {one_way_seconds(comm, partners, 1, 20),
          static_cast<double>(elements * sizeof(double)) / one_way_seconds(comm, partners, elements, 1)};
}

} // namespace kontor::miniapp
