// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/record/timers.hpp"

#include "machine/gather_to_root.hpp"
#include "run/record/trace.hpp"
#include "run/start/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

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

std::string_view name_of(RegionKind kind) {
  static constexpr std::array<std::string_view, 5> names{"compute", "packing", "communication", "io", "other"};
  return names.at(static_cast<std::size_t>(kind));
}

Timer& Timers::operator[](std::string_view region) {
  const auto entry = entries_.find(region);
  if (entry != entries_.end()) return entry->second;
  auto& timer = entries_.emplace(region, Timer{fmt::format("{}/{}", module_, region)}).first->second;
  timer.trace = trace_;
  return timer;
}

Timer& Timers::declare(std::string_view region, RegionKind kind) {
  auto& timer = (*this)[region];
  timer.kind = kind;
  return timer;
}

Timer& Timers::once(std::string_view region, RegionKind kind) {
  auto& timer = declare(region, kind);
  timer.once = true;
  return timer;
}

void Timers::add(const comm::PhaseTimes& times) {
  declare("pack", RegionKind::packing).add(times.pack, times.exchanges);
  declare("unpack", RegionKind::packing).add(times.unpack, times.exchanges);
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
  for (auto& [name, samples] : durations_) samples.clear();
  for (auto& [region, timer] : entries_) {
    if (timer.once) continue;
    timer.seconds = 0;
    timer.calls = 0;
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<RegionSummary> summarise(const comm::Communicator& comm, const Timers& timers) {
  require_same_regions(comm, timers);
  std::vector<double> mine;
  for (const auto& [region, timer] : timers.entries()) mine.push_back(timer.seconds);
  const auto all = gather_to_root(comm, std::span<const double>(mine)); // rank by rank
  std::vector<RegionSummary> result;
  if (comm.rank() != 0) return result;
  for (const auto& [region, timer] : timers.entries()) {
    std::vector<double> of_ranks;
    for (auto i = result.size(); i < all.size(); i += mine.size()) of_ranks.push_back(all[i]);
    const auto [min, max] = std::minmax_element(of_ranks.begin(), of_ranks.end());
    const double sum = std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
    result.push_back({region, timer.calls, *min, median(of_ranks), sum / static_cast<double>(of_ranks.size()), *max,
                      static_cast<int>(max - of_ranks.begin()), timer.once, timer.kind});
  }
  return result;
}

} // namespace kontor::miniapp
