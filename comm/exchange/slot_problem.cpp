// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange/slot_problem.hpp"

#include <kontor/comm/views/rows.hpp>

#include <fmt/format.h>

#include <map>
#include <utility>

namespace kontor::comm {
namespace {

/// What is wrong with the rows of this rank's slots that have been chosen.
std::optional<std::string> bad_rows(const Communicator& comm, const std::string& label,
                                    std::span<const Slot> slots) {
  int number = 0;
  std::map<std::pair<int, bool>, int> pair_counts;
  for (const auto& slot : slots) {
    const bool by_slot = slot.matching == Matching::by_slot;
    if (by_slot) ++number;
    for (const bool receives : {false, true}) {
      const auto& buffer = receives ? slot.receive : slot.send;
      const int peer = receives ? slot.source : slot.destination;
      if (peer == no_rank) continue;
      const int message = by_slot ? 0 : ++pair_counts[{peer, receives}];
      const auto what = rows_problem(buffer, receives, comm.options().check);
      if (!what) continue;
      return fmt::format("exchange '{}', {}: on rank {}, View '{}' {} rank {}: {}", label,
                         by_slot
                             ? fmt::format("slot {}", number - 1)
                             : fmt::format("message {} {} rank {}", message, receives ? "from" : "to", peer),
                         comm.rank(), buffer.label, receives ? "receives from" : "is sent to", peer, *what);
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> slot_problem(const Communicator& comm, const std::string& label,
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
  if (auto problem = bad_rows(comm, label, slots)) return problem;
  if (comm.options().check == CheckLevel::off) return std::nullopt;
  if (const auto what = overlap_problem(slots))
    return fmt::format(
        "exchange '{}': on rank {}, {}, and what receives in a step may not be sent in it, nor receive twice",
        label, me, *what);
  return std::nullopt;
}

} // namespace kontor::comm
