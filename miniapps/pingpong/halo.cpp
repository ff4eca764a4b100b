// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/decomposition.hpp"
#include "common/options.hpp"
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <kontor/comm/exchange.hpp>
#include <kontor/comm/registry.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <utility>
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

/// A block of size^dimensions cells with a layer of ghost cells, as a View (z, y, x), and the faces of its
/// halo: each outermost own layer goes to the neighbour there, into its ghost cells.
template <class T>
class Block {
 public:
  using Field = HostView<T, 3>;
  using Layer = Kokkos::View<T***, Kokkos::LayoutStride, Kokkos::HostSpace>;

  Block(const comm::Communicator& grid, std::int64_t size)
      : dimensions_(static_cast<int>(grid.dims().size())) {
    const auto n = static_cast<std::size_t>(size);
    const auto extent = [&](int axis) { return has(axis) ? n + 2 : 1; };
    field_ = Field(Kokkos::view_alloc(std::string("pingpong/block"), Kokkos::WithoutInitializing), extent(0),
                   extent(1), extent(2));
    for (int axis = 3 - dimensions_; axis < 3; ++axis) {
      const int dim = axis - (3 - dimensions_);
      const int lower = grid.neighbour(dim, -1);
      const int upper = grid.neighbour(dim, 1);
      slots_.push_back({layer(axis, 1, n), lower, layer(axis, n + 1, n), upper});
      slots_.push_back({layer(axis, n, n), upper, layer(axis, 0, n), lower});
    }
  }

  comm::Exchange<Field> exchange(const comm::Communicator& grid) const {
    comm::Exchange<Field> exchange(grid, "pingpong/halo");
    for (const auto& s : slots_) exchange.add(s.sent, s.destination, s.received, s.source);
    exchange.commit();
    return exchange;
  }

  /// Cells that are sent.
  std::int64_t halo_cells() const {
    std::int64_t cells = 0;
    for (const auto& s : slots_) cells += static_cast<std::int64_t>(s.sent.size());
    return cells;
  }
  std::int64_t messages() const { return static_cast<std::int64_t>(slots_.size()); }

  void fill(int seed, int rank) const {
    for (const auto& s : slots_)
      each_cell(s.sent, [&](std::size_t i, std::size_t j, std::size_t k) {
        s.sent(i, j, k) = payload_value<T>(index(s.sent, i, j, k), seed, rank);
      });
  }

  std::int64_t wrong(int seed) const {
    std::int64_t count = 0;
    for (const auto& s : slots_)
      each_cell(s.received, [&](std::size_t i, std::size_t j, std::size_t k) {
        count += s.received(i, j, k) != payload_value<T>(index(s.sent, i, j, k), seed, s.source);
      });
    return count;
  }

 private:
  struct Slot {
    Layer sent;
    int destination;
    Layer received;
    int source;
  };

  bool has(int axis) const { return axis >= 3 - dimensions_; }

  /// The own cells of all axes but one, at `place` of that one.
  Layer layer(int axis, std::size_t place, std::size_t n) const {
    const auto range = [&](int a) {
      if (a == axis) return std::pair(place, place + 1);
      return has(a) ? std::pair<std::size_t, std::size_t>(1, n + 1)
                    : std::pair<std::size_t, std::size_t>(0, 1);
    };
    return Kokkos::subview(field_, range(0), range(1), range(2));
  }

  /// Of a cell in the block; blocks are alike, so also of the cell that a neighbour sends from there.
  std::int64_t index(const Layer& layer, std::size_t i, std::size_t j, std::size_t k) const {
    return &layer(i, j, k) - field_.data();
  }

  template <class Visit>
  static void each_cell(const Layer& layer, const Visit& visit) {
    for (std::size_t i = 0; i < layer.extent(0); ++i)
      for (std::size_t j = 0; j < layer.extent(1); ++j)
        for (std::size_t k = 0; k < layer.extent(2); ++k) visit(i, j, k);
  }

  int dimensions_;
  Field field_;
  std::vector<Slot> slots_;
};

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
