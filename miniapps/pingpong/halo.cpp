// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/process_grid.hpp"
#include "pingpong/block.hpp"
#include "pingpong/combinations.hpp"
#include "pingpong/measures.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <vector>

namespace kontor::pingpong {
namespace {

/// The candidates on a process grid that is closed along all of its axes.
std::vector<TimedMethod> on_grid(const std::vector<TimedMethod>& candidates, int dimensions) {
  std::vector<TimedMethod> result;
  for (const auto& [name, comm, moves_data] : candidates) {
    const auto ranks =
        grid::smallest_surface_grid(comm.size(), std::vector<std::int64_t>(dimensions, comm.size()));
    const std::vector<bool> periodic(ranks.size(), true);
    result.push_back({name, grid::make_cartesian(comm, {ranks.begin(), ranks.end()}, periodic), moves_data});
  }
  return result;
}

/// Times all ways at one size and returns the fastest one that moves data.
template <class T>
const Point* at_size(Bench& bench, int dimensions, std::int64_t size, const std::vector<TimedMethod>& all,
                     Refusals& refusals) {
  const HaloBlock<T> block(all.front().comm, size, bench.options.fields);
  std::deque<grid::Halo<T>> exchanges;
  const auto ways = ways_of(
      bench, all, refusals, exchanges, [&](const comm::Communicator& comm) { return block.exchange(comm); },
      [](const TimedMethod& candidate, grid::Halo<T>& exchange) {
        return steps_of(candidate.name, exchange, candidate.moves_data);
      });
  const auto subject = subject_of<T>(fmt::format("{}d", dimensions), size, block.halo_cells());
  const auto first = bench.findings.points.size();
  const int rank = all.front().comm.rank();
  bench.time(subject, ways,
             {[&](int seed) { block.fill(seed, rank); }, [&](int seed) { return block.wrong(seed); }});
  const Point* best = nullptr;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    auto& point = bench.findings.points[first + w];
    point.subject.messages = static_cast<std::int64_t>(exchanges[w].sent().size());
    if (ways[w].verified && (!best || point.time.median < best->time.median)) best = &point;
  }
  return best;
}

} // namespace

void measure_halo(Bench& bench) {
  auto& findings = bench.findings;
  findings.record["best"] = nlohmann::ordered_json::array();
  Refusals refusals;
  const auto everything = candidates(bench, refusals);
  std::map<int, std::vector<TimedMethod>> by_dimensions;
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size) {
    auto& all = by_dimensions[dimensions];
    if (all.empty()) all = on_grid(everything, dimensions);
    if (const auto* best = at_size<decltype(scalar)>(bench, dimensions, size, all, refusals))
      findings.record["best"].push_back({{"curve", best->subject.curve},
                                         {"size", size},
                                         {"series", best->series},
                                         {"median", best->time.median},
                                         {"bytes", best->subject.bytes}});
  });
  tell(refusals, findings);
  if (findings.record["best"].empty()) return;
  const auto& last = findings.record["best"].back();
  findings.notes.push_back(fmt::format("the fastest that moves data, {} of size {}: {}",
                                       last["curve"].get<std::string>(), last["size"].get<std::int64_t>(),
                                       last["series"].get<std::string>()));
  findings.figures = {{"halo_exchange", last["median"].get<double>(), "s"}};
}

} // namespace kontor::pingpong
