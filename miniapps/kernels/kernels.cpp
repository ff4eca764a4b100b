// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"
#include "machine/memory.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/config/unused.hpp>

#include <fmt/format.h>

#include <array>

namespace kontor::kernels {

static constexpr std::array<config::Named<Measure>, 7> measures{{{"gradient", Measure::gradient},
                                                                 {"gram_schmidt", Measure::gram_schmidt},
                                                                 {"fill", Measure::fill},
                                                                 {"reductions", Measure::reductions},
                                                                 {"atomics", Measure::atomics},
                                                                 {"mdrange", Measure::mdrange},
                                                                 {"spmv", Measure::spmv}}};
static constexpr std::int64_t most = std::int64_t{1} << 30;

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
                                "gram_schmidt: sums in any order, or with the same bits on any ranks");
    p.choice<stepping::Launch>("launch", launch, stepping::launch_names,
                               "gram_schmidt on a GPU: each kernel by its own launch, all by one (graph), or by trial");
    sampling.describe(p);
  });
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& run) {
  run.refuse_series(deck, "a measurement");
  const config::UnusedKeys unused(deck, *this);
  using enum Measure;
  for (const auto* key : {"problem.columns", "problem.sums", "problem.launch"})
    unused.refuse_unless(measure == gram_schmidt, key, "problem.measure must be gram_schmidt");
  unused.refuse_unless(measure == atomics, "problem.cells", "problem.measure must be atomics");
  unused.refuse_unless(measure == gradient, "problem.precision", "problem.measure must be gradient");
  // Kernels number the entries of matrices and tensors by 32 bits.
  const auto largest = measure == fill || measure == spmv ? 400 : measure == mdrange ? 1290 : most;
  const auto least = measure == gram_schmidt ? std::max<std::int64_t>(2 * columns, ranks) : 1;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < least || sizes[i] > largest)
      deck.fail(fmt::format("problem.sizes[{}]", i),
                fmt::format("is {}; problem.measure {} takes {} to {}{}", sizes[i], name(), least, largest,
                            measure == gram_schmidt ? ": two rows a column, and one a rank" : ""),
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

void Bench::time(const Work& work, std::span<const Way> ways, const Check& check) {
  const Payload payload{[&](int) { check.clear(); }, [](int) { return std::int64_t{0}; }};
  const auto samples = interleave(context.comm, ways, payload, options.sampling, context.end, true).seconds;
  const double ranks = context.comm.size();
  const auto& [read, written] = work.moved;
  const Subject subject{work.curve, work.size, static_cast<std::int64_t>(work.elements),
                        static_cast<std::int64_t>(read + written), 0};
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const auto& name = ways[w].name;
    const auto seconds = summarise(samples[w]);
    findings.points.push_back({subject, name, seconds});
    if (w > 0) findings.ratios.push_back({subject, name, ways[0].name, paired_ratio(samples[w], samples[0])});
    for (auto figure : work.counts) {
      figure.name += "_" + name;
      figure.value *= ranks / seconds.median;
      figure.moved = {ranks * read, ranks * written};
      figures.emplace_back(figure, seconds.median);
    }
    if (!ways[w].verified) continue;
    check.clear();
    ways[w].run(1);
    const double found = check.error();
    error = worse(error, found == 0 ? 0 : found / check.tolerance);
    findings.verified = true;
  }
}

namespace {

/// In the order of Measure.
constexpr Measurement* measurements[] = {measure_gradient, measure_gram_schmidt, measure_fill, measure_reductions,
                                         measure_atomics,  measure_mdrange,      measure_spmv};

class Kernels final : public miniapp::MiniApp {
 public:
  Kernels(const Options& options, const miniapp::RunContext& context)
      : bench_{options, context}, bytes_(bytes_of_views(options, context.comm.size())) {
    context.progress.describe({"size", ""});
    miniapp::require_memory(context.comm, bytes_);
  }

  void warm_up() override {} ///< each way is warmed up where it is measured
  void reset() override { bench_.findings = {}; }

  void run() override {
    const auto& sizes = bench_.options.sizes;
    std::int64_t done = 0;
    for (const auto size : sizes) {
      if (bench_.context.end && bench_.context.end->ask()) throw miniapp::EndedEarly();
      bench_.figures.clear();
      measurements[static_cast<std::size_t>(bench_.options.measure)](bench_, size);
      bench_.context.progress.update({++done, static_cast<std::int64_t>(sizes.size())});
    }
  }

  miniapp::Verification verify() override {
    if (!bench_.findings.verified) return miniapp::inconclusive("nothing was computed");
    const comm::Communicator baseline(bench_.context.comm.native(), comm::Options{}); // what is verified takes no part
    return {"largest error of a result, in tolerances", comm::allreduce(baseline, bench_.error, comm::ReduceOp::max),
            1};
  }

  Figures figures(double /*seconds*/, const miniapp::Calibration& machine) const override {
    Figures figures;
    for (const auto& [figure, seconds] : bench_.figures)
      figures.push_back(miniapp::limited_by_memory(figure, seconds, figure.moved, machine));
    return figures;
  }

  nlohmann::ordered_json record() const override {
    auto record = to_json(bench_.findings);
    record["precision"] = miniapp::precision_names[static_cast<std::size_t>(bench_.options.precision)].name;
    record["field_memory"] = static_cast<std::int64_t>(bytes_);
    record["measure"] = bench_.options.name();
    return record;
  }
  std::string table() const override { return to_text(bench_.findings); }

  miniapp::CalibrationRequest calibration() const override { return {.working_set = bytes_}; }
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  Bench bench_;
  double bytes_; ///< of this rank's Views
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_kernels(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<Kernels>(options, context);
}

} // namespace kontor::kernels
