// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/algorithm/rows.hpp"

#include "graph/algorithm/buckets.hpp"

#include <kontor/comm/collectives.hpp>

#include <algorithm>
#include <utility>

namespace kontor::graph {
namespace {

/// An edge as one of its ends has it.
struct Arc {
  std::int64_t from, to;
};

/// Those from vertices of this rank.
std::vector<Arc> own_arcs(const comm::Communicator& comm, const Edges& edges, const Blocks& blocks) {
  constexpr std::int64_t batch = 1 << 20;
  const auto most = comm::allreduce(comm, edges.items(), comm::ReduceOp::max);
  Buckets<Arc> buckets(comm.size());
  comm::Received<Buckets<Arc>::Row> received;
  std::vector<Arc> arcs;
  for (std::int64_t first = 0; first < most; first += batch) {
    buckets.clear();
    for (const auto& [from, to] : edges.of(std::min(first, edges.items()), std::min(first + batch, edges.items()))) {
      if (from == to) continue;
      buckets[blocks.owner(from)].push_back({from, to});
      buckets[blocks.owner(to)].push_back({to, from});
    }
    received = comm::alltoallv_with_counts(comm, buckets.joined(), buckets.counts(), std::move(received));
    arcs.insert(arcs.end(), received.data.data(), received.data.data() + received.data.size());
  }
  return arcs;
}

} // namespace

Rows build_rows(const comm::Communicator& comm, const Edges& edges) {
  const Blocks blocks(edges.vertices(), comm.size());
  Rows rows{blocks, comm.rank(), blocks.begin(comm.rank()), blocks.size(comm.rank()), {}, {}};
  const auto n = static_cast<std::size_t>(rows.size);
  std::vector<std::int64_t> targets, places(n + 1, 0);
  {
    const auto arcs = own_arcs(comm, edges, blocks);
    for (const auto& arc : arcs) ++places[static_cast<std::size_t>(arc.from - rows.begin) + 1];
    for (std::size_t v = 0; v < n; ++v) places[v + 1] += places[v];
    targets.resize(arcs.size());
    auto next = places;
    for (const auto& [from, to] : arcs)
      targets[static_cast<std::size_t>(next[static_cast<std::size_t>(from - rows.begin)]++)] = to;
  }
  rows.offsets = Kokkos::View<std::int64_t*, Kokkos::HostSpace>("graph/offsets", n + 1);
  auto end = targets.begin();
  for (std::size_t v = 0; v < n; ++v) {
    const auto first = targets.begin() + places[v], last = targets.begin() + places[v + 1];
    std::sort(first, last);
    end = std::copy(first, std::unique(first, last), end); // which is not behind `first`
    rows.offsets(v + 1) = end - targets.begin();
  }
  targets.erase(end, targets.end());
  rows.targets = Kokkos::View<std::int64_t*, Kokkos::HostSpace>(
      Kokkos::view_alloc("graph/targets", Kokkos::WithoutInitializing), targets.size());
  std::ranges::copy(targets, rows.targets.data());
  return rows;
}

std::vector<int> neighbour_ranks(const Rows& rows) {
  std::vector<bool> found;
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    const auto owner = static_cast<std::size_t>(rows.blocks.owner(rows.targets(i)));
    if (owner >= found.size()) found.resize(owner + 1);
    found[owner] = true;
  }
  std::vector<int> ranks;
  for (int r = 0; r < static_cast<int>(found.size()); ++r)
    if (found[static_cast<std::size_t>(r)] && r != rows.rank) ranks.push_back(r);
  return ranks;
}

} // namespace kontor::graph
