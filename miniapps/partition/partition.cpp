// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/partition.hpp"

#include <kontor/comm/sparse_exchange.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kontor::partition {
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

/// Own rows that other ranks ask for, which are few beside all.
class AskedRows {
 public:
  AskedRows(const std::vector<comm::PeerMessage>& messages, const std::vector<GlobalIndex>& own) {
    for (const auto& message : messages)
      for (const auto row : values_of<GlobalIndex>(message.bytes)) local_.emplace(row, nobody);
    if (local_.empty()) return;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (const auto found = local_.find(own[i]); found != local_.end())
        found->second = static_cast<LocalIndex>(i);
  }

  /// Their local numbers.
  Rows local(const comm::PeerMessage& message, int rank) const {
    const auto asked = values_of<GlobalIndex>(message.bytes);
    const Rows rows(Kokkos::view_alloc("cg/sent rows", Kokkos::WithoutInitializing), asked.size());
    const auto host = Kokkos::create_mirror_view(rows);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      host(i) = local_.at(asked[i]);
      if (host(i) == nobody)
        throw std::logic_error(
            fmt::format("rank {} asks rank {} for row {}, which is not there", message.peer, rank, asked[i]));
    }
    Kokkos::deep_copy(rows, host);
    return rows;
  }

 private:
  static constexpr LocalIndex nobody = -1;
  std::unordered_map<GlobalIndex, LocalIndex> local_;
};

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

  const auto messages = comm::sparse_exchange(comm, "rows that neighbours read", std::move(wanted));
  const AskedRows asked(messages, own);
  for (const auto& message : messages)
    neighbour_of(partition.neighbours, message.peer).sent = asked.local(message, comm.rank());
  return partition;
}

} // namespace kontor::partition
