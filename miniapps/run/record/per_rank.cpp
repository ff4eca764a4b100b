// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/per_rank.hpp"

#include "machine/gather_to_root.hpp"

#include <cmath>
#include <span>

namespace kontor::miniapp {

void RepeatTimes::add(double wall, const Timers& timers) {
  wall_.push_back(wall);
  auto& now = so_far_.emplace_back();
  for (const auto& [region, timer] : timers.entries())
    if (!timer.outside()) now[region] = timer.seconds;
}

nlohmann::ordered_json RepeatTimes::over_ranks(const comm::Communicator& comm) const {
  using nlohmann::ordered_json;
  if (wall_.empty()) return {};
  const auto seconds_after = [&](std::size_t repeats, const std::string& region) {
    const auto* const sums = repeats > 0 ? &so_far_[repeats - 1] : nullptr;
    return sums && sums->contains(region) ? sums->at(region) : 0;
  };
  std::vector<std::string> regions;
  for (const auto& [region, seconds] : so_far_.back()) regions.push_back(region);
  std::vector<double> mine; // (repeat, 1 + region): first the wall time, then the regions'
  for (std::size_t repeat = 0; repeat < wall_.size(); ++repeat) {
    mine.push_back(wall_[repeat]);
    for (const auto& region : regions)
      mine.push_back(seconds_after(repeat + 1, region) - seconds_after(repeat, region));
  }
  for (auto& value : mine) value = std::round(value * 1e9) / 1e9;
  const auto all = gather_to_root(comm, std::span<const double>(mine));
  if (comm.rank() != 0) return {};
  auto seconds = ordered_json::array(), wall = ordered_json::array();
  const auto columns = static_cast<std::ptrdiff_t>(1 + regions.size());
  for (std::size_t repeat = 0; repeat < wall_.size(); ++repeat) {
    auto of_ranks = ordered_json::array(), walls = ordered_json::array();
    for (auto rank = all.begin(); rank != all.end(); rank += static_cast<std::ptrdiff_t>(mine.size())) {
      const auto row = rank + static_cast<std::ptrdiff_t>(repeat) * columns;
      walls.push_back(*row);
      of_ranks.push_back(std::vector<double>(row + 1, row + columns));
    }
    seconds.push_back(std::move(of_ranks));
    wall.push_back(std::move(walls));
  }
  return {{"useful", device::kernels_on_host}, {"regions", regions}, {"seconds", seconds}, {"wall", wall}};
}

} // namespace kontor::miniapp
