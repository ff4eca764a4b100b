// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "overlap.hpp"
#include "src/checks/description.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/detail/handshake.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace kontor::comm {

using mpi::check;

namespace {

using detail::Description;

/// One end of all of a rank's messages, ordered by peer, and for each peer those that are matched by slot
/// before those that are matched by pair; and how many go to each peer.
struct Ends {
  std::vector<Description> descriptions;
  std::vector<int> counts;
  std::vector<std::size_t> slots{}; ///< whose ends they are; of this rank's own only
};

/// Numbers in the order of adding: those that are matched by slot together, the others with each peer.
Ends collect(const Communicator& comm, std::span<const Slot> slots, int Slot::*peer, Buffer Slot::*buffer) {
  struct End {
    int peer;
    Matching matching;
    int number;
    std::size_t slot;
  };
  std::vector<End> ends;
  int slot_count = 0;
  std::map<int, int> pair_counts;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto& slot = slots[k];
    const int number = slot.matching == Matching::by_slot ? slot_count++ : pair_counts[slot.*peer]++;
    if (slot.*peer != no_rank) ends.push_back({slot.*peer, slot.matching, number, k});
  }
  std::ranges::sort(ends, {}, [](const End& e) { return std::tuple(e.peer, e.matching, e.number); });
  Ends result{{}, std::vector<int>(comm.size(), 0)};
  for (const auto& end : ends) {
    result.descriptions.push_back(detail::describe(comm.rank(), end.number, slots[end.slot].*buffer));
    result.descriptions.back().by_pair = end.matching == Matching::by_pair;
    result.slots.push_back(end.slot);
    ++result.counts[end.peer];
  }
  return result;
}

/// Collective. Every rank gets what the others have to tell it.
Ends peer_exchange(const Communicator& comm, const Ends& mine) {
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

/// The ends of messages between two ranks in one direction.
using Some = std::span<const Description>;

/// The messages from one rank to another, as both see them.
struct Both {
  int from;
  int to;
  Some sends;
  Some receives;
};

/// A slot that only one of them has.
std::optional<std::string> lonely_slot(const std::string& label, const Both& both) {
  const auto problem = [&](int rank, int peer, const char* does, const char* not_done, const Description& d) {
    return fmt::format("exchange '{}', slot {}: rank {} {} rank {} ({}), which does not {} it there; slots "
                       "are matched by number, so all ranks add them in the same order; where they cannot, "
                       "add_send() and add_receive() are matched by pair of ranks",
                       label, d.tag, rank, does, peer, to_string(d), not_done);
  };
  const auto& [from, to, sends, receives] = both;
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    if (i >= receives.size() || (i < sends.size() && sends[i].tag < receives[i].tag))
      return problem(from, to, "sends to", "receive", sends[i]);
    if (i >= sends.size() || receives[i].tag < sends[i].tag)
      return problem(to, from, "receives from", "send", receives[i]);
  }
  return std::nullopt;
}

std::optional<std::string> unequal_counts(const std::string& label, const Both& both) {
  const auto& [from, to, sends, receives] = both;
  if (sends.size() == receives.size()) return std::nullopt;
  return fmt::format(
      "exchange '{}': rank {} sends {} {} to rank {} by add_send(), but rank {} receives {} from "
      "rank {} by add_receive(); both must add equally many, in the same order",
      label, from, sends.size(), sends.size() == 1 ? "message" : "messages", to, to, receives.size(), from);
}

/// The first thing on which the two ends of some message differ.
std::optional<std::string> difference(const std::string& label, const Both& both) {
  const auto& [from, to, sends, receives] = both;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const auto found = mismatch(sends[i], receives[i]);
    if (!found) continue;
    if (!sends[i].by_pair) return fmt::format("exchange '{}', slot {}: {}", label, sends[i].tag, *found);
    return fmt::format("exchange '{}', message {} of {} from rank {} to rank {}: {}", label, i + 1,
                       sends.size(), from, to, *found);
  }
  return std::nullopt;
}

/// Those of the ends that are matched by slot, or those by pair.
Some part(Some ends, bool by_pair) {
  const auto first = std::ranges::find(ends, true, &Description::by_pair);
  const auto slots = static_cast<std::size_t>(first - ends.begin());
  return by_pair ? ends.subspan(slots) : ends.first(slots);
}

/// What the two ends of this rank's messages do not agree on. `incoming`: we receive and they send.
std::optional<std::string> disagreement(const std::string& label, int me, bool incoming, const Ends& mine,
                                        const Ends& theirs) {
  Some m = mine.descriptions;
  Some t = theirs.descriptions;
  for (int peer = 0; peer < static_cast<int>(mine.counts.size()); ++peer) {
    for (const bool by_pair : {false, true}) {
      const auto ours = part(m.first(mine.counts[peer]), by_pair);
      const auto others = part(t.first(theirs.counts[peer]), by_pair);
      const auto both = incoming ? Both{peer, me, others, ours} : Both{me, peer, ours, others};
      if (auto found = by_pair ? unequal_counts(label, both) : lonely_slot(label, both)) return found;
      if (auto found = difference(label, both)) return found;
    }
    m = m.subspan(mine.counts[peer]);
    t = t.subspan(theirs.counts[peer]);
  }
  return std::nullopt;
}

/// What can be seen wrong without asking anybody.
std::optional<std::string> local_problem(const Communicator& comm, const std::string& label,
                                         std::span<const Slot> slots) {
  const int me = comm.rank();
  const int ranks = comm.size();
  int number = 0;
  for (const auto& slot : slots) {
    const auto place =
        slot.matching == Matching::by_slot ? fmt::format(", slot {}", number++) : std::string();
    for (const int peer : {slot.destination, slot.source}) {
      if (peer != no_rank && (peer < 0 || peer >= ranks))
        return fmt::format("exchange '{}'{}: rank {} names rank {} as its peer; ranks are 0 to {}, and "
                           "no_rank says there is none",
                           label, place, me, peer, ranks - 1);
    }
  }
  if (comm.options().check == CheckLevel::off) return std::nullopt;
  if (const auto what = overlap_problem(slots))
    return fmt::format(
        "exchange '{}': on rank {}, {}, and what receives in a step may not be sent in it, nor receive twice",
        label, me, *what);
  return std::nullopt;
}

/// How many tags there must be, on the rank that needs most.
struct Tags {
  int of_slots = 0;
  int of_pairs = 0;
};

Tags tags_needed(const Communicator& comm, std::span<const Slot> slots, const Ends& sends) {
  int counts[2] = {};
  for (const auto& slot : slots) counts[0] += slot.matching == Matching::by_slot ? 1 : 0;
  for (const auto& d : sends.descriptions)
    if (d.by_pair) counts[1] = std::max(counts[1], d.tag + 1);
  check(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_MAX, comm.native()), "MPI_Allreduce");
  return {counts[0], counts[1]};
}

} // namespace

Agreement handshake(const Communicator& comm, const std::string& label, std::span<const Slot> slots) {
  const int me = comm.rank();
  comm.agree(local_problem(comm, label, slots));

  const auto sends = collect(comm, slots, &Slot::destination, &Slot::send);
  const auto receives = collect(comm, slots, &Slot::source, &Slot::receive);
  const auto their_sends = peer_exchange(comm, sends);
  const auto their_receives = peer_exchange(comm, receives);

  const auto problem = disagreement(label, me, true, receives, their_sends);
  comm.agree(problem ? problem : disagreement(label, me, false, sends, their_receives));

  const auto tags = tags_needed(comm, slots, sends);
  const int first_tag = comm.reserve_tags(tags.of_slots + tags.of_pairs);
  const auto agreed = [&](const Description& mine, int from, int to, const WireOrder& order) {
    const int distance = (to - from + comm.size()) % comm.size();
    if (mine.by_pair) return AgreedMessage{order, first_tag + tags.of_slots + mine.tag, distance};
    return AgreedMessage{order, first_tag + mine.tag, 0};
  };
  Agreement agreement{std::vector<AgreedMessage>(slots.size()), std::vector<AgreedMessage>(slots.size())};
  for (std::size_t i = 0; i < receives.slots.size(); ++i) {
    const auto& mine = receives.descriptions[i];
    const auto& theirs = their_sends.descriptions[i];
    agreement.receives[receives.slots[i]] =
        agreed(mine, theirs.rank, me, wire_order(theirs.shape, mine.shape));
  }
  for (std::size_t i = 0; i < sends.slots.size(); ++i) {
    const auto& mine = sends.descriptions[i];
    const auto& theirs = their_receives.descriptions[i];
    agreement.sends[sends.slots[i]] = agreed(mine, me, theirs.rank, wire_order(mine.shape, theirs.shape));
  }
  return agreement;
}

} // namespace kontor::comm
