// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/options.hpp"

#include "grid/make_field.hpp"
#include "machine/memory.hpp"
#include "machine/node.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/config/unused.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kontor::pingpong {
namespace {

using config::Named;

constexpr auto measures = [] {
  using enum Measure;
  return std::array<Named<Measure>, 7>{{{"roundtrip", roundtrip},
                                        {"halo", halo},
                                        {"collectives", collectives},
                                        {"model", model},
                                        {"exchange", exchange},
                                        {"calls", calls},
                                        {"device", device}}};
}();
constexpr std::array<Named<ScalarName>, 2> scalar_names{
    {{"int", ScalarName::of_int}, {"double", ScalarName::of_double}}};
constexpr std::array<Named<Pairs>, 2> pairings{{{"all", Pairs::all}, {"one", Pairs::one}}};

} // namespace

std::string_view name_of(Measure measure) { return measures[static_cast<std::size_t>(measure)].name; }

std::string_view name_of(ScalarName scalar) { return scalar_names[static_cast<std::size_t>(scalar)].name; }

void Options::describe(config::Visitor& v) {
  v.section("problem", "What is measured", [&](config::Visitor& p) {
    p.choice<Measure>("measure", measure, measures, "See docs/apps/pingpong.md");
    p.value("dimensions", dimensions, "Of the Views or blocks, one curve for each", {1, 3}, {1, 3});
    p.choices<ScalarName>("scalars", scalars, scalar_names, "Of the Views, one curve for each", {1});
    p.section("sizes", "Elements along an edge of the View or block", [&](config::Visitor& s) {
      s.value("from", sizes.from, "The smallest", {1, std::int64_t{1} << 40});
      s.value("to", sizes.to, "The largest", {1, std::int64_t{1} << 40});
      s.value("factor", sizes.factor, "From one to the next", {2, 1000});
      s.value("memory", sizes.memory,
              "Bytes that the Views of a rank may take; auto: its share of what is free. Larger sizes are left out",
              {1, std::int64_t{1} << 50});
    });
    p.choice<Pairs>(
        "pairs", pairs, pairings,
        "roundtrip, exchange, calls, device: every rank r of the lower half with r + ranks/2, or ranks 0 and 1 alone");
    const char* compared = "halo, exchange, device: which to compare; empty: all";
    p.choices<std::string>("backends", backends, miniapp::backend_names(), compared);
    p.choices<comm::Pattern>("patterns", patterns, miniapp::pattern_names(), compared);
    p.choices<comm::Packing>("packings", packings, miniapp::packing_names(), compared);
    p.choices<comm::Path>("paths", paths, miniapp::path_names(),
                          "halo, exchange, device on GPUs: which to compare; empty: all");
    p.value("fields", fields, "halo: fields of the block, whose halos one exchange carries", {1, 64});
    sampling.describe(p);
  });
}

void Options::resolve(const config::Deck& from, int ranks, const miniapp::RunOptions& run) {
  run.refuse_series(from, "a measurement");
  locations = {from.location("problem.sizes.from")};
  const config::UnusedKeys unused(from, *this);
  for (const auto* key : {"problem.backends", "problem.patterns", "problem.packings", "problem.paths"})
    unused.refuse_unless(compares_methods(measure), key, "problem.measure must be halo, exchange or device");
  unused.refuse_unless(measure == Measure::halo, "problem.fields", "problem.measure must be halo");
  unused.refuse_unless(pairs_ranks(measure), "problem.pairs",
                       "problem.measure must be roundtrip, exchange, calls or device");
  if (measure == Measure::model) pairs = Pairs::one;

  const auto name = name_of(measure);
  if (ranks < 2)
    from.fail("problem.measure", fmt::format("{} takes 2 ranks or more, but there is 1; start it by mpirun -n 2", name),
              "E-DECK-RANKS");
  if (pairs_ranks(measure) && pairs == Pairs::all && ranks % 2 != 0)
    from.fail(
        "problem.measure",
        fmt::format("{} pairs the ranks, but there are {}; use an even number, or set problem.pairs to one: ranks "
                    "0 and 1 are measured then, and the others are idle",
                    name, ranks),
        "E-DECK-RANKS");
  std::vector<std::int64_t> known{1};
  if (measure == Measure::roundtrip || measure == Measure::halo) known = {1, 2, 3};
  if (measure == Measure::exchange) known = {1, 2};
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (std::ranges::find(known, dimensions[i]) == known.end())
      from.fail(fmt::format("problem.dimensions[{}]", i),
                fmt::format("is {}; problem.measure {} takes {}", dimensions[i], name, fmt::join(known, ", ")));

  if (sizes.to < sizes.from)
    from.fail("problem.sizes.to", fmt::format("is {}, below problem.sizes.from, {}", sizes.to, sizes.from));
  const auto most_dimensions = *std::ranges::max_element(dimensions);
  const double elements =
      std::pow(static_cast<double>(sizes.to), most_dimensions) * (measure == Measure::collectives ? ranks : 1);
  constexpr double most = std::numeric_limits<int>::max();
  if (elements > most && !exchanges(measure)) // exchanges make no raw calls
    from.fail("problem.sizes.to",
              fmt::format("is {}, which in {}-D makes {:.3g} elements; raw MPI calls take at most {:.0f}", sizes.to,
                          most_dimensions, elements, most),
              "E-DECK-RANGE");
  if (measure == Measure::model && sizes.from * sizes.factor >= sizes.to)
    from.fail("problem.sizes.to", fmt::format("is {}, which with problem.sizes.factor {} makes fewer than 3 sizes; "
                                              "the line of a model needs that many",
                                              sizes.to, sizes.factor));
}

double bytes_of_views(const Options& options, int ranks, int dimensions, ScalarName scalar, std::int64_t size) {
  const auto measure = options.measure.value;
  const auto edge = static_cast<double>(size);
  const double element = scalar == ScalarName::of_int ? sizeof(int) : sizeof(double);
  if (measure == Measure::halo) {
    grid::Block block; // with ghost cells
    block.dimensions = dimensions;
    std::fill_n(&block.extents[0], dimensions, size);
    return static_cast<double>(options.fields) *
           (scalar == ScalarName::of_int ? grid::field_bytes<int>(block) : grid::field_bytes<double>(block));
  }
  // Out and in, and what a handful of methods pack them into.
  if (exchanges(measure)) return 2 * edge * element * (dimensions == 1 ? 4 : 4 + width_of_plane);
  const auto cube = std::pow(edge, dimensions) * element;
  // Along a grid: in, out, two that were received, and three between the hops.
  if (measure == Measure::collectives) return 7 * cube * ranks;
  return 2 * cube;
}

double memory_of_rank(const comm::Communicator& comm, bool of_kernels) {
  if (of_kernels || device::kernels_on_host) return 0.9 * miniapp::free_memory_of_rank(comm);
  const double mine = 0.9 * miniapp::free_host_memory() / miniapp::node_communicator(comm).size();
  return comm::allreduce(comm, mine, comm::ReduceOp::min);
}

std::vector<Case> cases(const Options& options, int ranks, double memory, std::vector<std::string>& notes) {
  std::vector<Case> result;
  const auto& o = options.sizes;
  for (const auto dimensions : options.dimensions)
    for (const auto scalar : options.scalars) {
      auto& c = result.emplace_back();
      c.dimensions = static_cast<int>(dimensions);
      c.scalar = scalar;
      const auto bytes = [&](std::int64_t size) { return bytes_of_views(options, ranks, c.dimensions, scalar, size); };
      std::vector<std::int64_t> misfits;
      for (auto size = o.from;; size = std::min(size * o.factor, o.to)) {
        (bytes(size) <= memory ? c.sizes : misfits).push_back(size);
        if (size == o.to) break;
      }
      if (misfits.empty()) continue;
      const auto name = fmt::format("{}-D {}", dimensions, name_of(scalar));
      if (c.sizes.empty())
        options.locations.from.fail(
            fmt::format("is too large: at size {}, {}, the Views of a rank take {:.3g} GB, and {:.3g} GB are {}",
                        misfits[0], name, bytes(misfits[0]) / 1e9, memory / 1e9,
                        o.memory ? "allowed by problem.sizes.memory" : "free for it"),
            "E-MEMORY");
      notes.push_back(fmt::format("left out, because they do not fit in {:.3g} GB a rank: {} of size {}", memory / 1e9,
                                  name, fmt::join(misfits, ", ")));
    }
  return result;
}

} // namespace kontor::pingpong
