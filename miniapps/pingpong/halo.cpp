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
const Point* at_size(Bench& bench, const std::string& curve, std::int64_t size,
                     const std::vector<TimedMethod>& all, Refusals& refusals) {
  const HaloBlock<T> block(all.front().comm, size, bench.options.fields);
  std::deque<comm::Exchange<typename HaloBlock<T>::Field>> exchanges;
  std::vector<Way> ways;
  for (const auto& candidate : all) {
    try_combination(candidate, refusals, [&] { exchanges.push_back(block.exchange(candidate.comm)); });
    if (exchanges.size() == ways.size()) continue;
    auto& exchange = exchanges.back();
    ways.push_back({candidate.name,
                    [&exchange](int n) {
                      for (int i = 0; i < n; ++i) {
                        exchange.start();
                        exchange.finish();
                      }
                      complete<typename HaloBlock<T>::Field>();
                    },
                    phases_of(exchange), candidate.moves_data});
  }
  if (ways.empty()) refuse_all(bench.options, refusals);
  const auto elements = block.halo_cells();
  const Subject subject{curve, size, elements, elements * static_cast<std::int64_t>(sizeof(T))};
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
  each_size(bench, [&](auto scalar, auto, std::int64_t size, const Case& c) {
    auto& all = by_dimensions[c.dimensions];
    if (all.empty()) all = on_grid(everything, c.dimensions);
    const auto curve = fmt::format("{}d {}", c.dimensions, name_of(c.scalar));
    if (const auto* best = at_size<decltype(scalar)>(bench, curve, size, all, refusals)) {
      findings.record["best"].push_back({{"curve", curve},
                                         {"size", size},
                                         {"series", best->series},
                                         {"median", best->time.median},
                                         {"bytes", best->subject.bytes}});
    }
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
