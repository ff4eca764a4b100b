// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/per_rank.hpp"

#include "machine/gather_to_root.hpp"

#include <cmath>
#include <span>

namespace kontor::miniapp {
namespace {

double to_nanoseconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }

} // namespace

void RepeatTimes::add(double wall, const Timers& timers) {
  wall_.push_back(wall);
  auto& now = so_far_.emplace_back();
  for (const auto& [region, timer] : timers.entries())
    if (!timer.outside()) now[region] = timer.seconds;
}

std::vector<std::string> RepeatTimes::regions() const {
  std::vector<std::string> names;
  if (!so_far_.empty())
    for (const auto& [region, seconds] : so_far_.back()) names.push_back(region);
  return names;
}

double RepeatTimes::seconds(std::size_t repeat, const std::string& region) const {
  const auto after = [&](std::size_t which) {
    const auto entry = so_far_.at(which).find(region);
    return entry == so_far_[which].end() ? 0.0 : entry->second;
  };
  return after(repeat) - (repeat > 0 ? after(repeat - 1) : 0.0);
}

PerRank gather(const comm::Communicator& comm, const RepeatTimes& times) {
  const auto regions = times.regions();
  std::vector<double> mine;
  for (std::size_t repeat = 0; repeat < times.wall().size(); ++repeat) {
    mine.push_back(times.wall()[repeat]);
    for (const auto& region : regions) mine.push_back(times.seconds(repeat, region));
  }
  auto all = gather_to_root(comm, std::span<const double>(mine));
  if (comm.rank() != 0) return {};
  return {regions, times.wall().size(), std::move(all)};
}

nlohmann::ordered_json to_json(const PerRank& times) {
  using nlohmann::ordered_json;
  const std::size_t columns = 1 + times.regions.size();
  const std::size_t ranks = times.repeats == 0 ? 0 : times.values.size() / (times.repeats * columns);
  auto seconds = ordered_json::array(), wall = ordered_json::array();
  for (std::size_t repeat = 0; repeat < times.repeats; ++repeat) {
    auto of_ranks = ordered_json::array(), walls = ordered_json::array();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const double* row = &times.values[(rank * times.repeats + repeat) * columns];
      walls.push_back(to_nanoseconds(row[0]));
      auto of_regions = ordered_json::array();
      for (std::size_t i = 1; i < columns; ++i) of_regions.push_back(to_nanoseconds(row[i]));
      of_ranks.push_back(std::move(of_regions));
    }
    seconds.push_back(std::move(of_ranks));
    wall.push_back(std::move(walls));
  }
  return {{"useful", device::kernels_on_host},
          {"regions", times.regions},
          {"seconds", std::move(seconds)},
          {"wall", std::move(wall)}};
}

} // namespace kontor::miniapp
