// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "collectives/perform.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/neighbours.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kontor::comm {
namespace {

std::vector<int> sorted(const Communicator& comm, std::vector<int> ranks) {
  std::ranges::sort(ranks);
  const auto twice = std::ranges::adjacent_find(ranks);
  if (twice != ranks.end()) throw CallError(fmt::format("Neighbours: rank {} is there twice", *twice));
  for (const int r : ranks)
    if (r < 0 || r >= comm.size())
      throw CallError(fmt::format("Neighbours: there is no rank {}; ranks are 0 to {}", r, comm.size() - 1));
  if (!std::ranges::binary_search(ranks, comm.rank()))
    ranks.insert(std::ranges::upper_bound(ranks, comm.rank()), comm.rank());
  return ranks;
}

/// Collective. Throws AgreedError if a neighbour does not have this rank as one.
void check_mutual(const Communicator& comm, const std::vector<int>& ranks) {
  const Kokkos::View<char*, Kokkos::HostSpace> mine("comm/neighbours", comm.size()),
      theirs("comm/neighbours", comm.size());
  for (const int r : ranks) mine(r) = 1;
  alltoall(comm, mine, theirs);
  std::optional<std::string> problem;
  for (int r = 0; r < comm.size() && !problem; ++r)
    if (mine(r) != theirs(r))
      problem = fmt::format("Neighbours: rank {} has rank {} as a neighbour, but not the other way round",
                            mine(r) ? comm.rank() : r, mine(r) ? r : comm.rank());
  comm.agree(problem);
}

Communicator graph_of(const Communicator& comm, const std::vector<int>& ranks) {
  const auto parent = comm.split(0, comm.rank()); // without a process grid: see backend/mpi/neighborhood.cpp
  const int degree = static_cast<int>(ranks.size());
  MPI_Comm graph = MPI_COMM_NULL;
  mpi::check(MPI_Dist_graph_create_adjacent(parent.native(), degree, ranks.data(), MPI_UNWEIGHTED, degree, ranks.data(),
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
             "MPI_Dist_graph_create_adjacent");
  return Communicator::adopt(graph, comm.options());
}

} // namespace

Neighbours::Neighbours(const Communicator& comm, std::vector<int> ranks)
    : comm_(comm.share()), ranks_(sorted(comm, std::move(ranks))), graph_([&] {
        if (comm.options().check != CheckLevel::off) check_mutual(comm, ranks_);
        return graph_of(comm, ranks_);
      }()) {}

namespace detail {

Counts learn_counts(const Neighbours& neighbours, const Counts& send_counts, std::size_t size,
                    const std::string& label) {
  const auto& comm = neighbours.comm();
  const auto& ranks = neighbours.ranks();
  const auto view = fmt::format("View '{}'", label);
  auto problem = counts_problem(comm, send_counts, view, static_cast<std::int64_t>(size));
  std::vector<std::int64_t> told, found(ranks.size()), received(comm.size(), 0);
  for (const int r : ranks) told.push_back(send_counts[r]);
  for (int r = 0; r < comm.size() && !problem; ++r)
    if (send_counts[r] != 0 && !std::ranges::binary_search(ranks, r))
      problem = fmt::format("{} elements are for rank {}, which is no neighbour", send_counts[r], r);
  check_call(comm, {.operation = "alltoallv_with_counts among neighbours", .subject = view, .problem = problem});
  mpi::check(MPI_Neighbor_alltoall(told.data(), 1, MPI_INT64_T, found.data(), 1, MPI_INT64_T, neighbours.native()),
             "MPI_Neighbor_alltoall");
  for (std::size_t i = 0; i < ranks.size(); ++i) received[ranks[i]] = found[i];
  return received;
}

void exchange(const Neighbours& neighbours, const Buffer& in, const Counts& send_counts, const Buffer& out,
              const Counts& received) {
  struct Parts {
    std::vector<int> counts, places;
  };
  const auto parts = [&](const Counts& counts, const Buffer& buffer) {
    if (counts.total() > std::numeric_limits<int>::max())
      throw Error(fmt::format("alltoallv_with_counts among neighbours: View '{}' has {} elements, beyond the {} that "
                              "MPI's arrays hold; let subviews travel one after the other",
                              buffer.label, counts.total(), std::numeric_limits<int>::max()),
                  "E-COMM-ARGUMENT");
    Parts result;
    const auto offsets = counts.offsets();
    for (const int r : neighbours.ranks()) {
      result.counts.push_back(static_cast<int>(counts[r]));
      result.places.push_back(static_cast<int>(offsets[r]));
    }
    return result;
  };
  const auto sends = parts(send_counts, in), receives = parts(received, out);
  const auto type = internals(neighbours.comm()).element_type(in.scalar);
  mpi::check(MPI_Neighbor_alltoallv(in.data, sends.counts.data(), sends.places.data(), type, out.data,
                                    receives.counts.data(), receives.places.data(), type, neighbours.native()),
             "MPI_Neighbor_alltoallv");
}

} // namespace detail
} // namespace kontor::comm
