// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/peers.hpp"

#include "cg/solver/persistent_teams.hpp"
#include "stepping/team_sums.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace kontor::cg {
namespace {

constexpr std::size_t alignment = 256;

/// Where words lie in the memory of each rank: the mailbox of sums, then ghosts of even and of odd steps.
struct Places {
  std::size_t ghosts, half, end;
  Places(int ranks, int teams, std::int64_t most_ghosts) {
    const auto up = [](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    ghosts = up(stepping::PeerParts::bytes(ranks, teams, PeerSteps::sums));
    half = up(static_cast<std::size_t>(most_ghosts) * comm::chunk_words<double> * sizeof(comm::Word));
    end = ghosts + 2 * half;
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
  return stepping::PeerParts::refusal<MemorySpace>(comm);
}

/// Teams: as many as the most rows of a rank want, four threads a row, and the smallest device has.
Peers::Shape::Shape(const comm::Communicator& comm, const partition::Partition& part) {
  const auto most = comm::allreduce(comm, std::array<std::int64_t, 2>{part.own, part.ghosts}, comm::ReduceOp::max);
  const int most_teams = comm::allreduce(comm, device::resident_teams(), comm::ReduceOp::min);
  teams = stepping::teams_of(most[0], std::max(persistent_threads / 4, 1), most_teams);
  most_ghosts = most[1];
}

Peers::Peers(const comm::Communicator& comm, const partition::Partition& part, int vectors)
    : Peers(comm, part, vectors, Shape(comm, part)) {}

Peers::Peers(const comm::Communicator& comm, const partition::Partition& part, int vectors, const Shape& shape)
    : length_(std::int64_t{part.own} + part.ghosts), apart_((length_ + 31) / 32 * 32),
      vectors_("cg/vectors in turn", static_cast<std::size_t>(vectors * apart_)),
      memory_(comm, Places(comm.size(), shape.teams, shape.most_ghosts).end, "cg/words of other ranks"),
      own_memory_(self_, stepping::PeerParts::bytes(1, shape.teams, PeerSteps::sums), "cg/words of this rank") {
  const int ranks = comm.size(), rank = comm.rank();
  const Places at(ranks, shape.teams, shape.most_ghosts);
  const auto ghost_of = [&](int r, LocalIndex ghost) {
    return reinterpret_cast<comm::Word*>(memory_.of(r) + at.ghosts) + std::int64_t{ghost} * comm::chunk_words<double>;
  };

  // Where this rank's rows are ghosts: the first of them on each other rank.
  std::array<LocalIndex, comm::most_mailbox_ranks> mine{};
  for (const auto& n : part.neighbours) mine.at(static_cast<std::size_t>(n.rank)) = n.first_ghost - part.own;
  const auto first_ghosts = comm::allgather(comm, mine);

  std::vector<std::vector<Address>> of_row(static_cast<std::size_t>(part.own - part.interior));
  std::vector<int> ghost_ranks(static_cast<std::size_t>(part.ghosts));
  std::optional<std::string> problem;
  for (const auto& n : part.neighbours) {
    const auto sent = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), n.sent);
    const auto first = first_ghosts[static_cast<std::size_t>(n.rank)].at(static_cast<std::size_t>(rank));
    for (std::size_t i = 0; i < sent.extent(0); ++i) {
      if (sent(i) < part.interior)
        problem =
            fmt::format("row {} of rank {} is read by rank {}, whose rows it does not read", sent(i), rank, n.rank);
      else
        of_row[static_cast<std::size_t>(sent(i) - part.interior)].push_back(
            reinterpret_cast<Address>(ghost_of(n.rank, first + static_cast<LocalIndex>(i))));
    }
    std::fill_n(ghost_ranks.begin() + (n.first_ghost - part.own), n.ghosts, n.rank);
  }
  comm.agree(problem);
  std::vector<LocalIndex> places{0};
  std::vector<Address> to;
  for (const auto& row : of_row) {
    to.insert(to.end(), row.begin(), row.end());
    places.push_back(static_cast<LocalIndex>(to.size()));
  }
  places_ = to_device<Array<LocalIndex>>("cg/places of sent rows", places);
  to_ = to_device<Array<Address>>("cg/ghosts on other ranks", to);
  ghost_ranks_ = to_device<Array<int>>("cg/ranks of ghosts", ghost_ranks);

  steps_.wait = memory_.wait();
  steps_.parts = {comm, memory_, 0, shape.teams, PeerSteps::sums};
  steps_.interior = part.interior;
  steps_.places = places_.data();
  steps_.to = reinterpret_cast<comm::Word* const*>(to_.data());
  steps_.ghosts = ghost_of(rank, 0);
  steps_.ghost_ranks = ghost_ranks_.data();
  steps_.half = static_cast<std::int64_t>(at.half / sizeof(comm::Word));
  steps_.ghost_rows = {part.own, length_};
  steps_.apart = apart_;
}

PeerSteps Peers::steps_alone() const {
  auto steps = steps_;
  steps.parts = {self_, own_memory_, 0, steps_.parts.teams(), PeerSteps::sums};
  steps.interior = steps.ghost_rows.begin;
  steps.ghost_rows.end = steps.ghost_rows.begin;
  return steps;
}

} // namespace kontor::cg
