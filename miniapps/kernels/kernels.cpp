// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/kernels.hpp"

#include "kernels/bench.hpp"
#include "machine/memory.hpp"

#include <kontor/comm/collectives.hpp>

#include <algorithm>

namespace kontor::kernels {

void Bench::time(const Work& work, std::span<const Way> ways, const Check& check) {
  const Payload payload{[&](int) { check.clear(); }, [](int) { return std::int64_t{0}; }};
  const auto samples = interleave(context.comm, ways, payload, options.sampling, context.end, true);
  const double ranks = context.comm.size();
  const auto& [read, written] = work.moved;
  const Subject subject{work.curve, work.size, static_cast<std::int64_t>(work.elements),
                        static_cast<std::int64_t>(read + written), 0};
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const auto seconds = summarise(samples.seconds[w]);
    findings.points.push_back({subject, ways[w].name, seconds});
    for (auto figure : work.counts) {
      figure.name += "_" + ways[w].name;
      figure.value *= ranks / seconds.median;
      figure.moved = {ranks * read, ranks * written};
      figures.emplace_back(figure, seconds.median);
    }
    if (w > 0)
      findings.ratios.push_back(
          {subject, ways[w].name, ways[0].name, paired_ratio(samples.seconds[w], samples.seconds[0])});
    if (!ways[w].verified) continue;
    check.clear();
    ways[w].run(1);
    const double found = check.error();
    error = worse(error, found == 0 ? 0 : found / check.tolerance);
    findings.verified = true;
  }
}

namespace {

using Function = void (*)(Bench&, std::int64_t size);

/// In the order of Measure.
constexpr Function functions[] = {measure_gradient, measure_gram_schmidt, measure_fill, measure_reductions,
                                  measure_atomics,  measure_mdrange,      measure_spmv};

class Kernels final : public miniapp::MiniApp {
 public:
  Kernels(const Options& options, const miniapp::RunContext& context)
      : options_(options), context_(context), bytes_(bytes_of_views(options, context.comm.size())) {
    context.progress.describe({"size", "", ""});
    miniapp::require_memory(context.comm, {{"kernels/" + std::string(options.name()), bytes_}});
  }

  void warm_up() override {} ///< each way is warmed up where it is measured

  void reset() override { findings_ = {}; }

  void run() override {
    Bench bench{options_, context_, findings_};
    std::int64_t done = 0;
    for (const auto size : options_.sizes) {
      if (context_.end && context_.end->ask()) throw miniapp::EndedEarly();
      bench.figures.clear();
      functions[static_cast<std::size_t>(options_.measure)](bench, size);
      context_.progress.update({++done, static_cast<std::int64_t>(options_.sizes.size())});
    }
    error_ = worse(error_, bench.error);
    figures_ = std::move(bench.figures);
  }

  miniapp::Verification verify() override {
    if (!findings_.verified) return miniapp::inconclusive("nothing was computed");
    const comm::Communicator baseline(context_.comm.native(), comm::Options{}); // what is verified takes no part
    return {"largest error of a result, in tolerances", comm::allreduce(baseline, error_, comm::ReduceOp::max), 1};
  }

  Figures figures(double /*seconds*/, const miniapp::Calibration& machine) const override {
    Figures figures;
    for (const auto& [figure, seconds] : figures_)
      figures.push_back(miniapp::limited_by_memory(figure, seconds, figure.moved, machine));
    return figures;
  }

  miniapp::AppRecord record() const override {
    miniapp::AppRecord record;
    record.precision = miniapp::precision_names[static_cast<std::size_t>(options_.precision)].name;
    record.field_memory = static_cast<std::int64_t>(bytes_);
    record.table = to_text(findings_);
    record.extras = to_json(findings_);
    record.extras["measure"] = options_.name();
    return record;
  }

  miniapp::CalibrationRequest calibration() const override { return {.working_set = bytes_}; }

  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  Options options_;
  miniapp::RunContext context_;
  double bytes_; ///< of this rank's Views
  Findings findings_;
  std::vector<std::pair<miniapp::FigureOfMerit, double>> figures_;
  double error_ = 0; ///< in all repeats
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_kernels(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<Kernels>(options, context);
}

} // namespace kontor::kernels
