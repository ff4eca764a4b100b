// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/agree.hpp"
#include "checks/description.hpp"
#include "communicator/internals.hpp"
#include "exchange/slot_problem.hpp"

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/exchange/handshake.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/sparse_exchange.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

namespace kontor::comm {

using mpi::check;

namespace {

using detail::Description;

/// One end of a message.
struct End {
  int peer;
  Description description;
  std::size_t slot = 0; ///< whose end it is; of this rank's own only
};

/// What they are ordered by: by peer, and for each peer those matched by slot before those matched by pair.
auto order(const End& end) { return std::tuple(end.peer, end.description.by_pair, end.description.tag); }

/// The ends of messages that are sent, or of those that are received.
using Ends = std::vector<End>;

Ends collect(const Communicator& comm, std::span<const Slot> slots, bool receives) {
  Ends ends;
  for (const auto& of : ends_of(slots)) {
    if (of.receives != receives) continue;
    auto description = detail::describe(comm.rank(), of.number, *of.buffer);
    description.by_pair = of.by_pair;
    description.receives = receives;
    description.adds = of.adds;
    ends.push_back(End{of.peer, description, static_cast<std::size_t>(of.slot - slots.data())});
  }
  std::ranges::sort(ends, {}, order);
  return ends;
}

/// Collective. Slots that have the labels of rank 0's, in another order: what travels would end in other Views.
std::optional<std::string> order_problem(const Communicator& comm, const std::string& label,
                                         std::span<const Slot> slots) {
  std::vector<std::string> given;
  for (const auto& slot : slots)
    if (slot.matching == Matching::by_slot)
      given.push_back(fmt::format("'{}' into '{}'", slot.send.label, slot.receive.label));
  auto sorted = given;
  std::ranges::sort(sorted);
  const auto in_words = [](const auto& labels) { return fmt::format("{}", fmt::join(labels, ", ")); };
  const auto others = mpi::first_problem(comm.native(), mpi::difference(comm.native(), in_words(sorted)));
  const auto order = mpi::difference(comm.native(), in_words(given));
  if (others || !order) return std::nullopt;
  return fmt::format("exchange '{}': slots are matched by number, so all ranks add them in the same order: {}", label,
                     *order);
}

/// The other ends of this rank's messages.
struct OtherEnds {
  Ends sends;    ///< of what this rank receives, or should
  Ends receives; ///< of what it sends, or should
};

/// Collective. Each rank tells its peers what it sends to them and receives from them. A rank that nobody expects to be
/// a peer is told so too.
OtherEnds exchange_ends(const Communicator& comm, const std::string& label, const Ends& sends, const Ends& receives) {
  std::map<int, std::vector<std::byte>> told;
  for (const auto* ends : {&sends, &receives}) {
    for (const auto& end : *ends) {
      const auto bytes = std::as_bytes(std::span(&end.description, 1));
      auto& message = told[end.peer];
      message.insert(message.end(), bytes.begin(), bytes.end());
    }
  }
  std::vector<PeerMessage> messages;
  for (auto& [peer, bytes] : told) messages.push_back({peer, std::move(bytes)});
  OtherEnds others;
  for (const auto& [peer, bytes] : sparse_exchange(comm, label, std::move(messages))) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Description)) {
      End end{peer, {}};
      std::memcpy(&end.description, &bytes[at], sizeof(Description));
      (end.description.receives ? others.receives : others.sends).push_back(end);
    }
  }
  return others;
}

/// The ends of messages between two ranks in one direction.
using Some = std::span<const End>;

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
    if (i >= receives.size() || (i < sends.size() && sends[i].description.tag < receives[i].description.tag))
      return problem(from, to, "sends to", "receive", sends[i].description);
    if (i >= sends.size() || receives[i].description.tag < sends[i].description.tag)
      return problem(to, from, "receives from", "send", receives[i].description);
  }
  return std::nullopt;
}

std::optional<std::string> unequal_counts(const std::string& label, const Both& both) {
  const auto& [from, to, sends, receives] = both;
  if (sends.size() == receives.size()) return std::nullopt;
  return fmt::format("exchange '{}': rank {} sends {} {} to rank {} by add_send(), but rank {} receives {} from "
                     "rank {} by add_receive(); both must add equally many, in the same order",
                     label, from, sends.size(), sends.size() == 1 ? "message" : "messages", to, to, receives.size(),
                     from);
}

/// The first thing on which the two ends of some message differ.
std::optional<std::string> difference(const std::string& label, const Both& both) {
  const auto& [from, to, sends, receives] = both;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const auto& sent = sends[i].description;
    const auto found = mismatch(sent, receives[i].description);
    if (!found) continue;
    if (!sent.by_pair) return fmt::format("exchange '{}', slot {}: {}", label, sent.tag, *found);
    return fmt::format("exchange '{}', message {} of {} from rank {} to rank {}: {}", label, i + 1, sends.size(), from,
                       to, *found);
  }
  return std::nullopt;
}

/// Those of the ends that belong to messages to or from this peer and are matched by slot, or by pair.
Some part(const Ends& ends, int peer, bool by_pair) {
  const auto key = [](const End& end) { return std::pair(end.peer, end.description.by_pair); };
  const std::pair wanted(peer, by_pair);
  return {std::ranges::lower_bound(ends, wanted, {}, key), std::ranges::upper_bound(ends, wanted, {}, key)};
}

/// What the two ends of this rank's messages do not agree on. `incoming`: we receive and they send.
std::optional<std::string> disagreement(const std::string& label, int me, bool incoming, const Ends& mine,
                                        const Ends& theirs) {
  std::set<int> peers;
  for (const auto* ends : {&mine, &theirs})
    for (const auto& end : *ends) peers.insert(end.peer);
  for (const int peer : peers) {
    for (const bool by_pair : {false, true}) {
      const auto ours = part(mine, peer, by_pair);
      const auto others = part(theirs, peer, by_pair);
      const auto both = incoming ? Both{peer, me, others, ours} : Both{me, peer, ours, others};
      if (auto found = by_pair ? unequal_counts(label, both) : lonely_slot(label, both)) return found;
      if (auto found = difference(label, both)) return found;
    }
  }
  return std::nullopt;
}

/// How many tags there must be, on the rank that needs most.
struct Tags {
  int of_slots = 0;
  int of_pairs = 0;
};

/// Collective. Throws AgreedError on every rank if Views lie in other memory on some: methods are chosen by it.
Tags tags_needed(const Communicator& comm, const std::string& label, std::span<const Slot> slots, const Ends& sends,
                 MemoryKind memory) {
  int counts[4] = {};
  int* const has_memory = counts + 2; // host, device: how far its lowest rank is from the end
  has_memory[static_cast<int>(memory)] = comm.size() - comm.rank();
  for (const auto& slot : slots) counts[0] += slot.matching == Matching::by_slot ? 1 : 0;
  for (const auto& end : sends)
    if (end.description.by_pair) counts[1] = std::max(counts[1], end.description.tag + 1);
  check(MPI_Allreduce(MPI_IN_PLACE, counts, 4, MPI_INT, MPI_MAX, comm.native()), "MPI_Allreduce");
  if (has_memory[0] > 0 && has_memory[1] > 0)
    throw AgreedError(fmt::format("exchange '{}': its Views are in host memory on rank {} and in device memory on rank "
                                  "{}; give all ranks an Exchange of the same memory space",
                                  label, comm.size() - has_memory[0], comm.size() - has_memory[1]));
  return {counts[0], counts[1]};
}

} // namespace

Agreement handshake(const Communicator& comm, const std::string& label, std::span<const Slot> slots,
                    MemoryKind memory) {
  const int me = comm.rank();
  auto wrong = slot_problem(comm, label, slots);
  if (wrong) wrong = errors::with_id(std::move(*wrong), "E-COMM-ARGUMENT");
  comm.agree(wrong);
  if (detail::verified(comm)) comm.agree(order_problem(comm, label, slots));

  const auto sends = collect(comm, slots, false);
  const auto receives = collect(comm, slots, true);
  const auto others = exchange_ends(comm, label, sends, receives);

  const auto problem = disagreement(label, me, true, receives, others.sends);
  comm.agree(problem ? problem : disagreement(label, me, false, sends, others.receives));

  const auto tags = tags_needed(comm, label, slots, sends, memory);
  const int count = tags.of_slots + tags.of_pairs;
  const int most = detail::internals(comm).most_tags();
  if (count > most) // on every rank
    throw UsageError(fmt::format("exchange '{}' has {} slots, each with a message tag of its own, but this MPI "
                                 "has tags for at most {} (its MPI_TAG_UB is {}); let one View travel instead "
                                 "of several, or make several exchanges",
                                 label, count, most, comm.tag_limit()));
  const int first_tag = detail::internals(comm).reserve_tags(count);
  const auto agreed = [&](int from, int to, const Description& sent, const Description& received) {
    const auto order = wire_order(sent.shape, received.shape);
    const bool packed = !is_contiguous(sent.shape, order) || !is_contiguous(received.shape, order) || received.adds;
    if (!sent.by_pair) return AgreedMessage{order, first_tag + sent.tag, 0, packed};
    const int distance = (to - from + comm.size()) % comm.size();
    return AgreedMessage{order, first_tag + tags.of_slots + sent.tag, distance, packed};
  };
  Agreement agreement{std::vector<AgreedMessage>(slots.size()), std::vector<AgreedMessage>(slots.size())};
  for (std::size_t i = 0; i < receives.size(); ++i) {
    const auto& [peer, mine, slot] = receives[i];
    const auto& theirs = others.sends[i].description;
    agreement.receives[slot] = agreed(peer, me, theirs, mine);
  }
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const auto& [peer, mine, slot] = sends[i];
    const auto& theirs = others.receives[i].description;
    agreement.sends[slot] = agreed(me, peer, mine, theirs);
  }
  return agreement;
}

} // namespace kontor::comm
