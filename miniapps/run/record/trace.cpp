// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/trace.hpp"

#include "machine/gather_to_root.hpp"

#include <fmt/format.h>

#include <span>

namespace kontor::miniapp {

Trace::Trace(std::int64_t steps) : left_(steps) {
  intervals_.reserve(static_cast<std::size_t>(steps * intervals_of_step));
}

void Trace::begin() {
  intervals_.clear();
  begin_ = device::seconds();
}

TraceTable Trace::gather(const comm::Communicator& comm, const Timers& timers) const {
  TraceTable table;
  std::map<const Timer*, int> numbers;
  for (const auto& [region, timer] : timers.entries()) {
    numbers[&timer] = static_cast<int>(table.regions.size());
    table.regions.push_back(region);
  }
  std::vector<TraceRow> mine;
  for (const auto& interval : intervals_)
    mine.push_back({comm.rank(), numbers.at(interval.timer), interval.begin - begin_, interval.end - begin_});
  table.rows = gather_to_root(comm, std::span<const TraceRow>(mine));
  return table;
}

void require_trace_fits(const config::Deck& deck, std::int64_t steps, int ranks) {
  constexpr std::int64_t bytes = sizeof(TraceRow) * Trace::intervals_of_step; // of a step of a rank
  const auto most = Trace::most_bytes / (bytes * ranks);
  if (steps > most)
    deck.fail("measure.trace", fmt::format("is {} steps of {} ranks, which may take {} bytes at rank 0; at most {} "
                                           "are allowed: trace at most {} steps, or fewer ranks",
                                           steps, ranks, steps * bytes * ranks, Trace::most_bytes, most));
}

} // namespace kontor::miniapp
