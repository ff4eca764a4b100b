// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange/slot_problem.hpp"

#include <kontor/comm/views/rows.hpp>

#include <fmt/format.h>

#include <map>
#include <utility>

namespace kontor::comm {
namespace {

/// What is wrong with one end of this rank's slots: a peer that is no rank, or rows that are not there.
std::optional<std::string> end_problem(const Communicator& comm, const std::string& label,
                                       std::span<const Slot> slots) {
  int slot_count = 0;
  std::map<std::pair<int, bool>, int> pair_counts;
  for (const auto& slot : slots) {
    const bool by_slot = slot.matching == Matching::by_slot;
    const int number = by_slot ? slot_count++ : 0;
    for (const bool receives : {false, true}) {
      const auto& buffer = receives ? slot.receive : slot.send;
      const int peer = receives ? slot.source : slot.destination;
      if (peer == no_rank) continue;
      if (peer < 0 || peer >= comm.size())
        return fmt::format("exchange '{}'{}: rank {} names rank {} as its peer; ranks are 0 to {}, and no_rank "
                           "says there is none",
                           label, by_slot ? fmt::format(", slot {}", number) : "", comm.rank(), peer, comm.size() - 1);
      const int message = by_slot ? 0 : ++pair_counts[{peer, receives}];
      const auto what = rows_problem(buffer, receives, comm.options().check);
      if (!what) continue;
      return fmt::format("exchange '{}', {}: on rank {}, View '{}' {} rank {}: {}", label,
                         by_slot ? fmt::format("slot {}", number)
                                 : fmt::format("message {} {} rank {}", message, receives ? "from" : "to", peer),
                         comm.rank(), buffer.label, receives ? "receives from" : "is sent to", peer, *what);
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> slot_problem(const Communicator& comm, const std::string& label,
                                        std::span<const Slot> slots) {
  if (auto problem = end_problem(comm, label, slots)) return problem;
  if (comm.options().check == CheckLevel::off) return std::nullopt;
  if (const auto what = overlap_problem(slots))
    return fmt::format(
        "exchange '{}': on rank {}, {}, and what receives in a step may not be sent in it, nor receive twice", label,
        comm.rank(), *what);
  return std::nullopt;
}

} // namespace kontor::comm
