// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/partition.hpp"

#include "partition/by_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace kontor::partition {
namespace {

constexpr LocalIndex nobody = -1;

/// The local numbers of rows that other ranks ask for, which are few beside all; nobody's, if not `own`.
std::unordered_map<GlobalIndex, LocalIndex> numbers_of(const ByRank<GlobalIndex>& asked,
                                                       const std::vector<GlobalIndex>& own) {
  std::unordered_map<GlobalIndex, LocalIndex> local;
  for (const auto& [rank, rows] : asked)
    for (const auto row : rows) local.emplace(row, nobody);
  if (local.empty()) return local;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (const auto found = local.find(own[i]); found != local.end()) found->second = static_cast<LocalIndex>(i);
  return local;
}

} // namespace

Partition make_partition(const comm::Communicator& comm, GlobalIndex rows, const std::vector<GlobalIndex>& own,
                         std::vector<GhostRow> ghosts) {
  std::sort(ghosts.begin(), ghosts.end(),
            [](const GhostRow& a, const GhostRow& b) { return std::tie(a.owner, a.row) < std::tie(b.owner, b.row); });
  Partition partition{.rows = rows,
                      .own = static_cast<LocalIndex>(own.size()),
                      .interior = static_cast<LocalIndex>(own.size()),
                      .ghosts = static_cast<LocalIndex>(ghosts.size())};
  partition.global = Kokkos::View<GlobalIndex*>(Kokkos::view_alloc("cg/global", Kokkos::WithoutInitializing),
                                                own.size() + ghosts.size());
  const auto global = Kokkos::create_mirror_view(partition.global);
  std::copy(own.begin(), own.end(), global.data());

  std::map<int, Neighbour> neighbours;
  ByRank<GlobalIndex> wanted;
  auto number = partition.own;
  for (const auto& [owner, row] : ghosts) {
    ++neighbours.try_emplace(owner, Neighbour{.rank = owner, .first_ghost = number}).first->second.ghosts;
    wanted[owner].push_back(row);
    global(number++) = row;
  }
  Kokkos::deep_copy(partition.global, global);

  const auto asked = exchange_by_rank(comm, "rows that neighbours read", wanted);
  const auto local = numbers_of(asked, own);
  for (const auto& [rank, numbers] : asked) {
    const Rows sent(Kokkos::view_alloc("cg/sent rows", Kokkos::WithoutInitializing), numbers.size());
    const auto host = Kokkos::create_mirror_view(sent);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      host(i) = local.at(numbers[i]);
      if (host(i) == nobody)
        throw std::logic_error(
            fmt::format("rank {} asks rank {} for row {}, which is not there", rank, comm.rank(), numbers[i]));
    }
    Kokkos::deep_copy(sent, host);
    neighbours.try_emplace(rank, Neighbour{.rank = rank}).first->second.sent = sent;
  }
  for (const auto& [rank, neighbour] : neighbours) partition.neighbours.push_back(neighbour);
  return partition;
}

} // namespace kontor::partition
