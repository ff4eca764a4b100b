// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/mpi/partners.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <algorithm>
#include <numeric>

namespace kontor::comm::mpi {

std::size_t Partners::number_of(int rank) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(ranks, rank) - ranks.begin());
}

Partners partners_of(MPI_Comm comm, const MessageSet& messages) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  Partners group{.ranks = {rank}};
  for (const auto* list : {&messages.sends, &messages.receives})
    for (const auto& message : *list) group.ranks.push_back(message.peer);
  std::ranges::sort(group.ranks);
  group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
  group.comm = split(comm, group.ranks.front());
  std::vector<int> known = group.ranks;
  int parts = 0;
  check(MPI_Comm_size(group.comm, &parts), "MPI_Comm_size");
  known.resize(static_cast<std::size_t>(parts), -1);
  auto first = known;
  check(MPI_Bcast(first.data(), parts, MPI_INT, 0, group.comm), "MPI_Bcast");
  int complete = first == known && group.ranks.size() == known.size();
  check(MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (!complete) {
    check(MPI_Comm_free(&group.comm), "MPI_Comm_free");
    // Not a duplicate: of one with a process grid, Open MPI 4.1 reads types of MPI_Ialltoallw by numbers of neighbours.
    group.comm = split(comm, 0);
    group.ranks.resize(static_cast<std::size_t>(size));
    std::iota(group.ranks.begin(), group.ranks.end(), 0);
  }
  return group;
}

MPI_Comm split(MPI_Comm comm, int color) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(comm, color, rank, &part), "MPI_Comm_split");
  check(MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return part;
}

Bundles::Bundles(std::size_t ranks, const std::vector<BundlePiece>& pieces)
    : counts(ranks, 0), places(ranks, 0), types(ranks, MPI_BYTE) {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> parts;
    for (const auto& piece : pieces) {
      if (piece.rank != rank) continue;
      lengths.push_back(piece.count);
      check(MPI_Get_address(piece.data, &addresses.emplace_back()), "MPI_Get_address");
      parts.push_back(piece.type);
    }
    if (lengths.empty()) continue;
    made.push_back(structure(lengths, addresses, parts));
    made.back().commit();
    types[rank] = made.back().get();
    counts[rank] = 1;
  }
}

} // namespace kontor::comm::mpi
