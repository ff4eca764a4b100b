// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/peers.hpp"

#include "cg/solver/persistent_teams.hpp"
#include "stepping/team_sums.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace kontor::cg {
namespace {

constexpr std::size_t line = 64, alignment = 256;
/// As many for each rank and team.
constexpr std::uint32_t words_of_team = PeerSteps::sums * comm::chunk_words<double>;

/// Where things lie in the memory of each rank: mailbox, counters by rank, vectors.
struct Places {
  std::size_t counters, vectors;
  Places(int ranks, int teams) {
    const auto up = [](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    const auto all_teams = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(teams);
    counters = up(2 * all_teams * words_of_team * sizeof(comm::Word));
    vectors = counters + up(static_cast<std::size_t>(ranks) * line);
  }
};

template <class View>
View to_device(const std::string& label, const std::vector<typename View::value_type>& values) {
  const View view(label, values.size());
  using Host = Kokkos::View<const typename View::value_type*, Kokkos::HostSpace>;
  Kokkos::deep_copy(view, Host(values.data(), values.size()));
  return view;
}

} // namespace

std::optional<std::string> Peers::refusal(const comm::Communicator& comm) {
  if (comm.size() > comm::most_mailbox_ranks)
    return fmt::format("there are {} ranks, more than {}", comm.size(), comm::most_mailbox_ranks);
  return comm::PeerMemory<MemorySpace>::refusal(comm);
}

/// Teams: as many as the most rows of a rank want, four threads a row, and the smallest device has.
Peers::Shape::Shape(const comm::Communicator& comm, const partition::Partition& part, int vectors) : vectors(vectors) {
  const auto most =
      comm::allreduce(comm, std::array<std::int64_t, 2>{part.own, part.own + part.ghosts}, comm::ReduceOp::max);
  const int most_teams = comm::allreduce(comm, device::resident_teams(), comm::ReduceOp::min);
  teams = stepping::teams_of(most[0], persistent_threads / 4, most_teams);
  length = (most[1] + 31) / 32 * 32;
}

Peers::Peers(const comm::Communicator& comm, const partition::Partition& part, int vectors)
    : Peers(comm, part, Shape(comm, part, vectors)) {}

Peers::Peers(const comm::Communicator& comm, const partition::Partition& part, const Shape& shape)
    : memory_(comm,
              Places(comm.size(), shape.teams).vectors +
                  static_cast<std::size_t>(shape.vectors) * static_cast<std::size_t>(shape.length) * sizeof(double),
              "cg/vectors and ghosts") {
  const int ranks = comm.size(), rank = comm.rank();
  const Places at(ranks, shape.teams);
  const auto vector_of = [&](int r) { return reinterpret_cast<double*>(memory_.of(r) + at.vectors); };
  const auto counter_of = [&](int owner, int from) {
    return memory_.of(owner) + at.counters + static_cast<std::size_t>(from) * line;
  };
  vector_ = Vector(vector_of(rank), static_cast<std::size_t>(part.own) + static_cast<std::size_t>(part.ghosts));

  // Where this rank's rows are ghosts: the first of them on each other rank.
  std::array<LocalIndex, comm::most_mailbox_ranks> mine{};
  for (const auto& n : part.neighbours) mine.at(static_cast<std::size_t>(n.rank)) = n.first_ghost;
  const auto first_ghosts = comm::allgather(comm, mine);

  std::vector<std::vector<Address>> of_row(static_cast<std::size_t>(part.own - part.interior));
  std::vector<Address> tell;
  std::vector<int> neighbours;
  std::optional<std::string> problem;
  for (const auto& n : part.neighbours) {
    neighbours.push_back(n.rank);
    tell.push_back(reinterpret_cast<Address>(counter_of(n.rank, rank)));
    const auto sent = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), n.sent);
    const auto first = first_ghosts[static_cast<std::size_t>(n.rank)].at(static_cast<std::size_t>(rank));
    for (std::size_t i = 0; i < sent.extent(0); ++i) {
      if (sent(i) < part.interior)
        problem =
            fmt::format("row {} of rank {} is read by rank {}, whose rows it does not read", sent(i), rank, n.rank);
      else
        of_row[static_cast<std::size_t>(sent(i) - part.interior)].push_back(
            reinterpret_cast<Address>(vector_of(n.rank) + first + static_cast<LocalIndex>(i)));
    }
  }
  comm.agree(problem);
  std::vector<LocalIndex> places{0};
  std::vector<Address> to;
  for (const auto& row : of_row) {
    to.insert(to.end(), row.begin(), row.end());
    places.push_back(static_cast<LocalIndex>(to.size()));
  }
  places_ = to_device<Array<LocalIndex>>("cg/places of sent rows", places);
  to_ = to_device<Array<Address>>("cg/ghosts of other ranks", to);
  ranks_ = to_device<Array<int>>("cg/neighbours", neighbours);
  tell_ = to_device<Array<Address>>("cg/counters of neighbours", tell);

  steps_.wait = memory_.wait();
  for (int r = 0; r < ranks; ++r) steps_.boxes.of[r] = reinterpret_cast<comm::Word*>(memory_.of(r));
  steps_.boxes.rank = rank;
  steps_.boxes.ranks = ranks;
  steps_.boxes.slot_words = static_cast<std::uint32_t>(shape.teams) * words_of_team;
  steps_.teams = shape.teams;
  steps_.apart = shape.length;
  steps_.interior = part.interior;
  steps_.places = places_.data();
  steps_.to = reinterpret_cast<double* const*>(to_.data());
  steps_.neighbours = static_cast<int>(neighbours.size());
  steps_.ranks = ranks_.data();
  steps_.tell = reinterpret_cast<device::Counter* const*>(tell_.data());
  steps_.arrived = reinterpret_cast<device::Counter*>(counter_of(rank, 0));
}

} // namespace kontor::cg
