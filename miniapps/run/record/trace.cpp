// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/trace.hpp"

#include "machine/gather_to_root.hpp"

namespace kontor::miniapp {

Trace::Trace(std::int64_t steps, int ranks) : left_(steps) {
  constexpr std::int64_t of_step = 64, of_all = 1'000'000;
  intervals_.reserve(static_cast<std::size_t>(std::min(steps * of_step, of_all / ranks)));
}

void Trace::begin() {
  intervals_.clear();
  begin_ = device::seconds();
}

nlohmann::ordered_json Trace::over_ranks(const comm::Communicator& comm, const Timers& timers) const {
  std::map<const Timer*, std::string> regions;
  for (const auto& [region, timer] : timers.entries()) regions[&timer] = region;
  auto mine = nlohmann::ordered_json::array();
  for (const auto& [timer, begin, end] : intervals_)
    mine.push_back(
        {{"rank", comm.rank()}, {"region", regions.at(timer)}, {"begin", begin - begin_}, {"end", end - begin_}});
  return gather_rows(comm, mine);
}

} // namespace kontor::miniapp
