// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/timers.hpp"

#include "machine/gather_to_root.hpp"
#include "run/record/trace.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/gather.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace kontor::miniapp {
namespace {

std::string names_of(const Timers& timers) {
  std::string names;
  for (const auto& [region, timer] : timers.entries()) names += (names.empty() ? "" : ", ") + region;
  return names;
}

/// Collective.
void require_same_regions(const comm::Communicator& comm, const Timers& timers) {
  const auto mine = names_of(timers);
  const auto first = broadcast(comm.native(), mine);
  std::optional<std::string> problem;
  if (mine != first)
    problem = fmt::format("timers: rank {} has the regions {}, but rank 0 has {}; ask for the same regions of "
                          "Timers on all ranks",
                          comm.rank(), mine, first);
  comm.agree(problem);
}

} // namespace

Timer& Timers::operator[](std::string_view region) {
  const auto entry = entries_.find(region);
  if (entry != entries_.end()) return entry->second;
  auto& timer = entries_.emplace(region, Timer{fmt::format("{}/{}", module_, region)}).first->second;
  timer.trace = trace_;
  return timer;
}

Timer& Timers::declare(std::string_view region, std::string_view kind) {
  auto& timer = (*this)[region];
  timer.kind = kind;
  return timer;
}

Timer& Timers::once(std::string_view region, std::string_view kind) {
  auto& timer = declare(region, kind);
  timer.once = true;
  return timer;
}

void Timers::add(const comm::PhaseTimes& times) {
  declare("pack", "packing").add(times.pack, times.exchanges);
  declare("unpack", "packing").add(times.unpack, times.exchanges);
  communication("post").add(times.post, times.exchanges);
  communication("wait").add(times.wait, times.exchanges);
}

Distribution& Timers::durations(std::string_view name) {
  const auto entry = durations_.find(name);
  return entry != durations_.end() ? entry->second : durations_.emplace(name, Distribution{}).first->second;
}

void Timers::trace(Trace* trace) {
  trace_ = trace;
  for (auto& [region, timer] : entries_) timer.trace = trace;
}

void add_to_trace(const Timer& timer, double begin, double end) { timer.trace->add(timer, begin, end); }

void Timers::reset() {
  repeats_.clear();
  for (auto& [name, samples] : durations_) samples.clear();
  for (auto& [region, timer] : entries_) {
    if (timer.once) continue;
    timer.seconds = 0;
    timer.calls = 0;
  }
}

void Timers::end_repeat(double wall) {
  auto& repeat = repeats_.emplace_back();
  repeat.wall = wall;
  for (const auto& [region, timer] : entries_)
    if (!timer.outside()) repeat.sums[region] = timer.seconds;
}

nlohmann::ordered_json Timers::per_rank(const comm::Communicator& comm) const {
  if (repeats_.empty()) return {};
  const auto rounded = [](double seconds) { return std::round(seconds * 1e9) / 1e9; };
  auto mine = nlohmann::ordered_json::array(); // of each repeat
  auto before = repeats_.back().sums;
  std::vector<std::string> regions;
  for (auto& [region, sum] : before) {
    regions.push_back(region);
    sum = 0;
  }
  for (const auto& [wall, sums] : repeats_) {
    std::vector<double> seconds;
    for (auto& [region, sum] : before) {
      const auto found = sums.find(region); // it may be asked for in a later repeat
      const double so_far = found == sums.end() ? 0 : found->second;
      seconds.push_back(rounded(so_far - std::exchange(sum, so_far)));
    }
    mine.push_back({{"wall", rounded(wall)}, {"seconds", seconds}});
  }
  const auto rows = gather_rows(comm, mine);
  if (comm.rank() != 0) return {};
  nlohmann::ordered_json json{{"useful", device::kernels_on_host}, {"regions", regions}};
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const char* key : {"seconds", "wall"}) json[key][row % repeats_.size()].push_back(rows[row][key]);
  return json;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

nlohmann::ordered_json summarise(const comm::Communicator& comm, const Timers& timers, std::int64_t repeats) {
  require_same_regions(comm, timers);
  auto table = nlohmann::ordered_json::array();
  for (const auto& [region, timer] : timers.entries()) {
    const auto times = timer.once ? 1 : repeats;
    const auto seconds = comm::gather(comm, timer.seconds / static_cast<double>(times), 0);
    if (comm.rank() != 0) continue;
    const auto [min, max] = std::ranges::minmax_element(seconds);
    table.push_back(
        {{"region", region},
         {"calls", timer.calls / times},
         {"min", *min},
         {"median", median(seconds)},
         {"max", *max},
         {"slowest_rank", std::ranges::max_element(seconds) - seconds.begin()},
         {"mean", std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size())},
         {"once", timer.once},
         {"kind", timer.kind}});
  }
  return table;
}

nlohmann::ordered_json distributions(const comm::Communicator& comm, const Timers& timers) {
  auto table = nlohmann::ordered_json::array();
  if constexpr (device::kernels_on_host)
    for (const auto& [name, samples] : timers.durations()) {
      const auto found = samples.over_ranks(comm);
      if (found.empty() || found["count"] == 0) continue;
      nlohmann::ordered_json row{{"name", name}};
      row.update(found);
      table.push_back(std::move(row));
    }
  return table;
}

} // namespace kontor::miniapp
