// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "description.hpp"
#include "overlap.hpp"

#include <kontor/comm/handshake.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace kontor::comm {

using mpi::check;

namespace {

using detail::Description;

/// One end of all of a rank's messages, ordered by peer and then by slot, and how many go to each peer.
struct Ends {
  std::vector<Description> descriptions;
  std::vector<int> counts;
};

Ends collect(const Communicator& comm, std::span<const Slot> slots, int Slot::*peer, Buffer Slot::*buffer) {
  Ends ends{{}, std::vector<int>(comm.size(), 0)};
  for (int r = 0; r < comm.size(); ++r) {
    for (std::size_t k = 0; k < slots.size(); ++k) {
      if (slots[k].*peer != r) continue;
      ends.descriptions.push_back(detail::describe(comm.rank(), static_cast<int>(k), slots[k].*buffer));
      ++ends.counts[r];
    }
  }
  return ends;
}

/// Collective. Every rank gets what the others have to tell it.
Ends trade(const Communicator& comm, const Ends& mine) {
  const int ranks = comm.size();
  Ends theirs{{}, std::vector<int>(ranks, 0)};
  check(MPI_Alltoall(mine.counts.data(), 1, MPI_INT, theirs.counts.data(), 1, MPI_INT, comm.native()),
        "MPI_Alltoall");
  constexpr int size = sizeof(Description);
  std::vector<int> send_bytes(ranks), send_offsets(ranks), receive_bytes(ranks), receive_offsets(ranks);
  const auto in_bytes = [](int count) { return count * size; };
  std::transform(mine.counts.begin(), mine.counts.end(), send_bytes.begin(), in_bytes);
  std::transform(theirs.counts.begin(), theirs.counts.end(), receive_bytes.begin(), in_bytes);
  std::exclusive_scan(send_bytes.begin(), send_bytes.end(), send_offsets.begin(), 0);
  std::exclusive_scan(receive_bytes.begin(), receive_bytes.end(), receive_offsets.begin(), 0);
  theirs.descriptions.resize(std::accumulate(theirs.counts.begin(), theirs.counts.end(), 0));
  check(MPI_Alltoallv(mine.descriptions.data(), send_bytes.data(), send_offsets.data(), MPI_BYTE,
                      theirs.descriptions.data(), receive_bytes.data(), receive_offsets.data(), MPI_BYTE,
                      comm.native()),
        "MPI_Alltoallv");
  return theirs;
}

/// Calls both_ends(slot, theirs) for each message that the two ends have in common, and returns the first
/// thing on which they differ. `incoming`: we receive and they send.
std::optional<std::string>
match(const std::string& label, int me, bool incoming, const Ends& mine, const Ends& theirs,
      const std::function<void(const Description&, const Description&)>& both_ends) {
  const auto describe_lonely = [&](int rank, int peer, bool sends, const Description& d) {
    return fmt::format("exchange '{}', slot {}: rank {} {} rank {} ({}), which does not {} there", label,
                       d.tag, rank, sends ? "sends to" : "receives from", peer, to_string(d),
                       sends ? "receive it" : "send it");
  };
  std::size_t i = 0;
  std::size_t j = 0;
  for (int peer = 0; peer < static_cast<int>(mine.counts.size()); ++peer) {
    const auto i_end = i + mine.counts[peer];
    const auto j_end = j + theirs.counts[peer];
    while (i < i_end || j < j_end) {
      const auto* m = i < i_end ? &mine.descriptions[i] : nullptr;
      const auto* t = j < j_end ? &theirs.descriptions[j] : nullptr;
      if (!t || (m && m->tag < t->tag)) return describe_lonely(me, peer, !incoming, *m);
      if (!m || t->tag < m->tag) return describe_lonely(peer, me, incoming, *t);
      if (const auto found = incoming ? mismatch(*t, *m) : mismatch(*m, *t))
        return fmt::format("exchange '{}', slot {}: {}", label, m->tag, *found);
      both_ends(*m, *t);
      ++i;
      ++j;
    }
  }
  return std::nullopt;
}

/// What can be seen wrong without asking anybody.
std::optional<std::string> local_problem(const Communicator& comm, const std::string& label,
                                         std::span<const Slot> slots) {
  const int me = comm.rank();
  const int ranks = comm.size();
  for (std::size_t k = 0; k < slots.size(); ++k) {
    for (const int peer : {slots[k].destination, slots[k].source}) {
      if (peer != no_rank && (peer < 0 || peer >= ranks))
        return fmt::format(
            "exchange '{}', slot {}: rank {} names rank {} as its peer; ranks are 0 to {}, and "
            "no_rank says there is none",
            label, k, me, peer, ranks - 1);
    }
  }
  if (comm.options().check == CheckLevel::off) return std::nullopt;
  if (const auto what = overlap_problem(slots))
    return fmt::format(
        "exchange '{}': on rank {}, {}, and what receives in a step may not be sent in it, nor receive twice",
        label, me, *what);
  return std::nullopt;
}

} // namespace

Agreement handshake(const Communicator& comm, const std::string& label, std::span<const Slot> slots) {
  const int me = comm.rank();
  comm.agree(local_problem(comm, label, slots));

  const auto sends = collect(comm, slots, &Slot::destination, &Slot::send);
  const auto receives = collect(comm, slots, &Slot::source, &Slot::receive);
  const auto their_sends = trade(comm, sends);
  const auto their_receives = trade(comm, receives);

  Agreement agreement;
  agreement.send_orders.resize(slots.size());
  agreement.receive_orders.resize(slots.size());
  auto problem = match(label, me, true, receives, their_sends, [&](const auto& mine, const auto& theirs) {
    agreement.receive_orders[mine.tag] = wire_order(theirs.shape, mine.shape);
  });
  const auto problem_of_sends =
      match(label, me, false, sends, their_receives, [&](const auto& mine, const auto& theirs) {
        agreement.send_orders[mine.tag] = wire_order(mine.shape, theirs.shape);
      });
  comm.agree(problem ? problem : problem_of_sends);

  int slot_count = static_cast<int>(slots.size());
  check(MPI_Allreduce(MPI_IN_PLACE, &slot_count, 1, MPI_INT, MPI_MAX, comm.native()), "MPI_Allreduce");
  agreement.first_tag = comm.reserve_tags(slot_count);
  return agreement;
}

} // namespace kontor::comm
