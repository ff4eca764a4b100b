// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/partition.hpp"

#include <kontor/comm/sparse_exchange.hpp>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kontor::cg {
namespace {

using HostRows = Kokkos::View<LocalIndex*, Kokkos::HostSpace>;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Neighbour& neighbour_of(std::vector<Neighbour>& neighbours, int rank) {
  const auto at = std::lower_bound(neighbours.begin(), neighbours.end(), rank,
                                   [](const Neighbour& n, int r) { return n.rank < r; });
  if (at != neighbours.end() && at->rank == rank) return *at;
  return *neighbours.insert(at, Neighbour{.rank = rank});
}

/// The own rows of these global numbers, which another rank has asked for.
Rows asked_rows(const std::vector<GlobalIndex>& asked,
                const std::unordered_map<GlobalIndex, LocalIndex>& local) {
  const Rows rows(Kokkos::view_alloc("cg/sent rows", Kokkos::WithoutInitializing), asked.size());
  const auto host = Kokkos::create_mirror_view(rows);
  for (std::size_t i = 0; i < asked.size(); ++i) host(i) = local.at(asked[i]);
  Kokkos::deep_copy(rows, host);
  return rows;
}

} // namespace

Partition make_partition(const comm::Communicator& comm, GlobalIndex rows,
                         const std::vector<GlobalIndex>& own, std::vector<GhostRow> ghosts) {
  std::sort(ghosts.begin(), ghosts.end(), [](const GhostRow& a, const GhostRow& b) {
    return std::tie(a.owner, a.row) < std::tie(b.owner, b.row);
  });
  Partition partition{.rows = rows,
                      .own = static_cast<LocalIndex>(own.size()),
                      .interior = static_cast<LocalIndex>(own.size()),
                      .ghosts = static_cast<LocalIndex>(ghosts.size())};
  partition.global = Kokkos::View<GlobalIndex*>(Kokkos::view_alloc("cg/global", Kokkos::WithoutInitializing),
                                                own.size() + ghosts.size());
  const auto global = Kokkos::create_mirror_view(partition.global);
  std::copy(own.begin(), own.end(), global.data());

  std::vector<comm::PeerMessage> wanted;
  for (std::size_t i = 0; i < ghosts.size();) {
    auto end = i;
    std::vector<GlobalIndex> numbers;
    for (; end < ghosts.size() && ghosts[end].owner == ghosts[i].owner; ++end) {
      global(own.size() + end) = ghosts[end].row;
      numbers.push_back(ghosts[end].row);
    }
    auto& neighbour = neighbour_of(partition.neighbours, ghosts[i].owner);
    neighbour.first_ghost = partition.own + static_cast<LocalIndex>(i);
    neighbour.ghosts = static_cast<LocalIndex>(end - i);
    wanted.push_back({ghosts[i].owner, bytes_of(numbers)});
    i = end;
  }
  Kokkos::deep_copy(partition.global, global);

  std::unordered_map<GlobalIndex, LocalIndex> local; // of own rows
  const auto asked = comm::sparse_exchange(comm, "rows that neighbours read", std::move(wanted));
  if (!asked.empty())
    for (std::size_t i = 0; i < own.size(); ++i) local.emplace(own[i], static_cast<LocalIndex>(i));
  for (const auto& message : asked)
    neighbour_of(partition.neighbours, message.peer).sent =
        asked_rows(values_of<GlobalIndex>(message.bytes), local);
  return partition;
}

} // namespace kontor::cg
