// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/trace.hpp"

#include "machine/gather_to_root.hpp"

#include <fmt/format.h>

#include <span>

namespace kontor::miniapp {
namespace {

/// When a rank was in a region: seconds since it left the barrier before the traced steps.
struct Row {
  int rank = 0;
  int region = 0;
  double begin = 0, end = 0;
};

} // namespace

Trace::Trace(std::int64_t steps) : left_(steps) {
  intervals_.reserve(static_cast<std::size_t>(steps * intervals_of_step));
}

void Trace::begin() {
  intervals_.clear();
  begin_ = device::seconds();
}

nlohmann::ordered_json Trace::over_ranks(const comm::Communicator& comm, const Timers& timers) const {
  std::vector<std::string> regions;
  std::map<const Timer*, int> numbers;
  for (const auto& [region, timer] : timers.entries()) {
    numbers[&timer] = static_cast<int>(regions.size());
    regions.push_back(region);
  }
  std::vector<Row> mine;
  for (const auto& interval : intervals_)
    mine.push_back({comm.rank(), numbers.at(interval.timer), interval.begin - begin_, interval.end - begin_});
  nlohmann::ordered_json table;
  for (const auto& [rank, region, begin, end] : gather_to_root(comm, std::span<const Row>(mine)))
    table.push_back(
        {{"rank", rank}, {"region", regions.at(static_cast<std::size_t>(region))}, {"begin", begin}, {"end", end}});
  return table;
}

void require_trace_fits(const config::Deck& deck, std::int64_t steps, int ranks) {
  constexpr std::int64_t most_bytes = std::int64_t{64} << 20, bytes = sizeof(Row) * Trace::intervals_of_step;
  const auto most = most_bytes / (bytes * ranks);
  if (steps > most)
    deck.fail("measure.trace", fmt::format("is {} steps of {} ranks, which may take {} bytes at rank 0; at most {} "
                                           "are allowed: trace at most {} steps, or fewer ranks",
                                           steps, ranks, steps * bytes * ranks, most_bytes, most));
}

} // namespace kontor::miniapp
