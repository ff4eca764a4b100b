// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/timers.hpp"

#include "machine/gather_to_root.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kontor::miniapp {

Timer& Timers::operator[](std::string_view region) {
  const auto entry = entries_.find(region);
  if (entry != entries_.end()) return entry->second;
  auto& timer = entries_.emplace(region, Timer{fmt::format("{}/{}", module_, region)}).first->second;
  timer.trace = traced_steps_ > 0 ? &trace_ : nullptr;
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

void Timers::begin_trace(std::int64_t steps, int ranks) {
  constexpr std::int64_t of_step = 64, of_all = 1'000'000;
  trace_.reserve(static_cast<std::size_t>(std::min(steps * of_step, of_all / ranks)));
  traced_steps_ = steps;
  for (auto& [region, timer] : entries_) timer.trace = &trace_;
  trace_begin_ = device::seconds();
}

void Timers::end_trace() {
  traced_steps_ = 0;
  for (auto& [region, timer] : entries_) timer.trace = nullptr;
}

nlohmann::ordered_json Timers::trace(const comm::Communicator& comm) const {
  auto mine = nlohmann::ordered_json::array();
  for (const auto& [timer, begin, end] : trace_)
    mine.push_back({{"rank", comm.rank()},
                    {"region", timer->label.substr(module_.size() + 1)},
                    {"begin", begin - trace_begin_},
                    {"end", end - trace_begin_}});
  return gather_rows(comm, mine);
}

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
  auto mine = nlohmann::ordered_json::array(); // of each repeat
  std::map<std::string, double> before;
  for (const auto& [wall, sums] : repeats_) {
    nlohmann::ordered_json row{{"wall", wall}};
    for (const auto& [region, sum] : sums) row[region] = sum - std::exchange(before[region], sum);
    mine.push_back(row);
  }
  const auto rows = gather_rows(comm, mine);
  if (comm.rank() != 0) return {};
  const auto of = [](const nlohmann::ordered_json& row, const std::string& region) {
    return std::round(row.value(region, 0.0) * 1e9) / 1e9;
  };
  nlohmann::ordered_json json{{"useful", device::kernels_on_host}, {"regions", nlohmann::ordered_json::array()}};
  for (const auto& [region, sum] : before) json["regions"].push_back(region);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto& seconds = json["seconds"][row % repeats_.size()].emplace_back(nlohmann::ordered_json::array());
    for (const auto& [region, sum] : before) seconds.push_back(of(rows[row], region));
    json["wall"][row % repeats_.size()].push_back(of(rows[row], "wall"));
  }
  return json;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

nlohmann::ordered_json summarise(const comm::Communicator& comm, const Timers& timers, std::int64_t repeats) {
  const auto times = [&](const Timer& timer) { return timer.once ? 1 : repeats; };
  auto mine = nlohmann::ordered_json::array({nlohmann::ordered_json::object()});
  for (const auto& [region, timer] : timers.entries())
    mine[0][region] = timer.seconds / static_cast<double>(times(timer));
  const auto rows = gather_rows(comm, mine);
  auto table = nlohmann::ordered_json::array();
  if (comm.rank() != 0) return table;
  for (const auto& [region, timer] : timers.entries()) {
    std::vector<double> seconds;
    for (const auto& row : rows) seconds.push_back(row.value(region, 0.0));
    const auto [min, max] = std::ranges::minmax_element(seconds);
    table.push_back(
        {{"region", region},
         {"calls", timer.calls / times(timer)},
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
