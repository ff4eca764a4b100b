// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/decomposition.hpp"
#include "common/options.hpp"
#include "pingpong/block.hpp"
#include "pingpong/measures.hpp"

#include <kontor/comm/registry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace kontor::pingpong {
namespace {

/// One combination of backend, pattern and packing that this build can do.
struct Candidate {
  std::string name;
  comm::Communicator grid;
};

/// What cannot be had, and why.
using Refusals = std::map<std::string, std::string>;

/// What is asked for, or all but `auto`.
template <class T>
std::vector<T> chosen(const std::vector<T>& asked, std::span<const config::Named<T>> all) {
  if (!asked.empty()) return asked;
  std::vector<T> values;
  for (const auto& named : all)
    if (named.name != comm::automatic_backend) values.push_back(named.value);
  return values;
}

std::vector<comm::Options> combinations(const Options& o, comm::Options options) {
  std::vector<comm::Options> result;
  for (const auto& backend : chosen<std::string>(o.backends, miniapp::backend_names()))
    for (const auto pattern : chosen<comm::Pattern>(o.patterns, miniapp::pattern_names()))
      for (const auto packing : chosen<comm::Packing>(o.packings, miniapp::packing_names())) {
        options.backend = backend;
        options.pattern = pattern;
        options.packing = packing;
        result.push_back(options);
      }
  if (o.backends.empty() && o.patterns.empty() && o.packings.empty()) {
    options.backend = comm::automatic_backend;
    options.pattern = comm::Pattern::automatic;
    options.packing = comm::Packing::automatic;
    result.push_back(options);
  }
  return result;
}

/// Ranks along each dimension, slowest first.
std::vector<int> grid_of(int ranks, int dimensions) {
  auto grid = miniapp::smallest_surface_grid(ranks, std::vector<std::int64_t>(dimensions, ranks));
  std::reverse(grid.begin(), grid.end());
  return grid;
}

std::vector<Candidate> candidates(const Bench& bench, int dimensions, Refusals& refusals) {
  const auto dims = grid_of(bench.comm().size(), dimensions);
  std::vector<Candidate> result;
  std::set<comm::Packing> idle;
  for (const auto& options : combinations(bench.options, bench.comm().options())) {
    auto name = fmt::format("{} {} {}", options.backend, miniapp::name_of(options.pattern),
                            miniapp::name_of(options.packing));
    try {
      const comm::Communicator all(bench.comm().native(), options);
      const bool moves_data = all.backend().capabilities().moves_data;
      if (!moves_data && !idle.insert(options.packing).second)
        continue; // no pattern makes a difference to it
      result.push_back({name, comm::Communicator(all, dims, std::vector<bool>(dims.size(), true))});
    } catch (const comm::UsageError& error) {
      refusals.emplace(std::move(name), error.what());
    }
  }
  return result;
}

[[noreturn]] void refuse_all(const Options& options, const Refusals& refusals) {
  std::string reasons;
  for (const auto& [name, why] : refusals) reasons += fmt::format("\n  {}: {}", name, why);
  options.deck->fail(
      "problem",
      fmt::format("has no combination of backends, patterns and packings that can be had:{}", reasons));
}

/// Times all ways at one size and returns the fastest one that moves data.
template <class T>
const Point* at_size(Bench& bench, const std::string& curve, std::int64_t size,
                     const std::vector<Candidate>& all, Refusals& refusals) {
  const Block<T> block(all.front().grid, size);
  std::deque<comm::Exchange<typename Block<T>::Field>> exchanges;
  std::vector<Way> ways;
  for (const auto& candidate : all) {
    try {
      exchanges.push_back(block.exchange(candidate.grid));
    } catch (const comm::UsageError& error) {
      refusals.emplace(candidate.name, error.what());
      continue;
    }
    auto& exchange = exchanges.back();
    ways.push_back({candidate.name,
                    [&exchange](int n) {
                      for (int i = 0; i < n; ++i) {
                        exchange.start();
                        exchange.finish();
                      }
                    },
                    &exchange.times(), candidate.grid.backend().capabilities().moves_data});
  }
  if (ways.empty()) refuse_all(bench.options, refusals);
  const auto elements = block.halo_cells();
  const Subject subject{curve, size, elements, elements * static_cast<std::int64_t>(sizeof(T)),
                        block.messages()};
  const auto first = bench.findings.points.size();
  const int rank = all.front().grid.rank();
  bench.time(subject, ways,
             {[&](int seed) { block.fill(seed, rank); }, [&](int seed) { return block.wrong(seed); }});
  const Point* best = nullptr;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const auto& point = bench.findings.points[first + w];
    if (ways[w].verified && (!best || point.time.median < best->time.median)) best = &point;
  }
  return best;
}

} // namespace

void measure_halo(Bench& bench) {
  auto& findings = bench.findings;
  findings.record["best"] = nlohmann::ordered_json::array();
  Refusals refusals;
  std::map<int, std::vector<Candidate>> by_dimensions;
  each_size(bench, [&](auto scalar, auto, std::int64_t size, const Case& c) {
    auto& all = by_dimensions[c.dimensions];
    if (all.empty()) all = candidates(bench, c.dimensions, refusals);
    if (all.empty()) refuse_all(bench.options, refusals);
    const auto curve = fmt::format("{}d {}", c.dimensions, name_of(c.scalar));
    if (const auto* best = at_size<decltype(scalar)>(bench, curve, size, all, refusals)) {
      findings.record["best"].push_back({{"curve", curve},
                                         {"size", size},
                                         {"series", best->series},
                                         {"median", best->time.median},
                                         {"bytes", best->subject.bytes}});
    }
  });
  for (const auto& [name, why] : refusals)
    findings.record["not_possible"].push_back({{"series", name}, {"why", why}});
  if (!refusals.empty())
    findings.notes.push_back(
        fmt::format("{} combinations are not possible; /run/not_possible says why", refusals.size()));
  if (findings.record["best"].empty()) return;
  const auto& last = findings.record["best"].back();
  findings.notes.push_back(fmt::format("the fastest that moves data, {} of size {}: {}",
                                       last["curve"].get<std::string>(), last["size"].get<std::int64_t>(),
                                       last["series"].get<std::string>()));
  findings.figures = {{"halo_exchange", last["median"].get<double>(), "s"}};
}

} // namespace kontor::pingpong
