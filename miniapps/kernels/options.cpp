// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/options.hpp"

#include <kontor/config/unused.hpp>
#include <kontor/device/compat.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kontor::kernels {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 30;
constexpr std::array<config::Named<Measure>, 7> measures{{{"gradient", Measure::gradient},
                                                          {"gram_schmidt", Measure::gram_schmidt},
                                                          {"fill", Measure::fill},
                                                          {"reductions", Measure::reductions},
                                                          {"atomics", Measure::atomics},
                                                          {"mdrange", Measure::mdrange},
                                                          {"spmv", Measure::spmv}}};

} // namespace

std::string_view Options::name() const { return measures[static_cast<std::size_t>(measure)].name; }

void Options::describe(config::Visitor& v) {
  v.section("problem", "What is measured", [&](config::Visitor& p) {
    p.choice<Measure>("measure", measure, measures, "See docs/apps/kernels.md");
    p.value("sizes", sizes, "Of what each rank has; gram_schmidt: rows of all ranks", {1, most}, {1, 64});
    p.value("columns", columns, "gram_schmidt: vectors", {1, 1024});
    p.value("cells", cells, "atomics: cells along an edge of the grid that is updated", {1, 1024});
    p.choice<miniapp::Precision>("precision", precision, miniapp::precision_names,
                                 "gradient: of coordinates and derivatives");
    p.choice<stepping::SumKind>("sums", sums, stepping::sum_kind_names,
                                "gram_schmidt: sums in the fastest order, or with the same bits on any ranks");
    p.choice<stepping::Graphs>("graph", graph, stepping::graph_names,
                               "gram_schmidt on a GPU: by one launch (on), each kernel by its own (off), or by trial");
    p.value("repetitions", sampling.repetitions, "Samples of each way at each size", {1, 1000000});
    p.value("warm_up", sampling.warm_up, "Executions of each way before the samples", {1, 1000000});
    p.value("shortest_sample", sampling.shortest,
            "Seconds of a sample, at least; that of a shorter execution is the mean of several", {0, 10});
  });
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& run) {
  run.refuse_series(deck, "a measurement");
  const config::UnusedKeys unused(deck, *this);
  const auto is = [&](std::initializer_list<Measure> some) { return std::ranges::count(some, measure) > 0; };
  for (const auto* key : {"problem.columns", "problem.sums", "problem.graph"})
    unused.refuse_unless(is({Measure::gram_schmidt}), key, "problem.measure must be gram_schmidt");
  unused.refuse_unless(is({Measure::atomics}), "problem.cells", "problem.measure must be atomics");
  unused.refuse_unless(is({Measure::gradient}), "problem.precision", "problem.measure must be gradient");
  // Kernels number the entries of matrices and tensors by 32 bits.
  const auto largest = is({Measure::fill, Measure::spmv}) ? 400 : is({Measure::mdrange}) ? 1290 : most;
  const auto least = is({Measure::gram_schmidt}) ? std::max<std::int64_t>(2 * columns, ranks) : 1;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < least || sizes[i] > largest)
      deck.fail(fmt::format("problem.sizes[{}]", i),
                fmt::format("is {}; problem.measure {} takes {} to {}{}", sizes[i], name(), least, largest,
                            is({Measure::gram_schmidt}) ? ": two rows a column, and one a rank" : ""),
                "E-DECK-RANGE");
}

double bytes_of_views(const Options& o, int ranks) {
  const auto cubed = [](double x) { return x * x * x; };
  const auto size = static_cast<double>(std::ranges::max(o.sizes));
  const double word = o.precision == miniapp::Precision::single_precision ? 4 : 8;
  const double grids = 1 + (device::kernels_on_host ? Kokkos::DefaultExecutionSpace().concurrency() : 0);
  switch (o.measure) {
  case Measure::gradient: return 2 * 24 * word * size;
  case Measure::gram_schmidt: return 2 * 8 * static_cast<double>(o.columns) * size / ranks;
  case Measure::fill: return (64 * 8 + 64 * 4 + 8 * 4) * cubed(size) + (24 + 8 * 4 + 27 * 8 * grids) * cubed(size + 1);
  case Measure::reductions: return 8 * size;
  case Measure::atomics: return (24 + 16) * size + 16 * grids * cubed(static_cast<double>(o.cells));
  case Measure::mdrange: return 2 * 8 * cubed(size);
  case Measure::spmv: return (27 * 12 + 4 + 16) * cubed(size);
  }
  return 0;
}

} // namespace kontor::kernels
