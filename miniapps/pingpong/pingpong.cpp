// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::pingpong {
namespace {

/// In the order of Measure.
constexpr Measurement* functions[] = {measure_roundtrip,   measure_bcast, measure_halo,
                                      measure_collectives, measure_model, measure_strided,
                                      measure_exchange,    measure_calls, measure_exchange};

class PingPong final : public miniapp::MiniApp {
 public:
  PingPong(const Options& options, const miniapp::RunContext& context) : options_(options), context_(context) {
    context.progress.describe({"size", "", ""});
    const int ranks = context.comm.size();
    const auto memory = options.sizes.memory ? static_cast<double>(*options.sizes.memory)
                                             : memory_of_rank(context.comm, compares_methods(options.measure));
    cases_ = cases(options, ranks, memory, notes_);
    if (pairs_ranks(options.measure) && options.pairs == Pairs::one && ranks > 2)
      notes_.push_back(fmt::format("ranks 0 and 1 are measured, the other {} are idle", ranks - 2));
    if (!device::kernels_on_host && on_host())
      notes_.push_back("Views lie in host memory, as one-shot calls want them; measures halo and exchange are "
                       "those of GPU memory");
  }

  void warm_up() override {} ///< each method is warmed up where it is measured

  void reset() override {
    findings_ = {};
    findings_.notes = notes_;
  }

  void run() override {
    Bench bench{options_, context_, cases_, findings_};
    functions[static_cast<std::size_t>(options_.measure.value)](bench);
    auto& figures = findings_.figures;
    if (figures.empty() && !findings_.ratios.empty()) figures = typed_over_raw(findings_);
    if (options_.measure == Measure::calls)
      for (const auto& [call, seconds] : bench.added)
        figures.push_back({call + "_added", miniapp::median(seconds), "s"});
    wrong_ += findings_.wrong;
  }

  miniapp::Verification verify() override {
    const comm::Communicator baseline(context_.comm.native(), comm::Options{}); // with a backend that is not measured
    if (comm::allreduce(baseline, findings_.verified ? 1 : 0, comm::ReduceOp::max) == 0)
      return {.measure = "nothing that was measured moves data", .off = true};
    const auto wrong = comm::allreduce(baseline, wrong_, comm::ReduceOp::sum);
    return {"values that arrived wrong", static_cast<double>(wrong), 0};
  }

  std::vector<miniapp::FigureOfMerit> figures(double /*seconds*/, const miniapp::Calibration&) const override {
    return findings_.figures;
  }

  miniapp::AppRecord record() const override {
    std::vector<std::string_view> scalars;
    for (const auto scalar : options_.scalars) scalars.push_back(name_of(scalar));
    miniapp::AppRecord record;
    record.precision = fmt::format("{}", fmt::join(scalars, " and "));
    record.calibration = findings_.calibration;
    record.table = to_text(findings_);
    record.extras = to_json(findings_);
    record.extras["measure"] = name_of(options_.measure);
    record.extras["memory"] = on_host() ? "host" : "device";
    return record;
  }

  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  /// Whether the Views lie in host memory.
  bool on_host() const { return device::kernels_on_host || !compares_methods(options_.measure); }

  Options options_;
  miniapp::RunContext context_;
  std::vector<std::string> notes_;
  std::vector<Case> cases_;
  Findings findings_;
  std::int64_t wrong_ = 0; ///< in all repeats
};

} // namespace

Samples Bench::sample(std::span<const Way> ways, const Payload& payload, const Sampling& sampling, bool clocked) {
  auto samples = interleave(comm(), ways, payload, sampling, context.end, clocked);
  findings.wrong += samples.wrong;
  findings.verified = findings.verified || samples.verified;
  return samples;
}

Samples Bench::time(const Subject& subject, std::span<const Way> ways, const Payload& payload, bool clocked) {
  auto samples = sample(ways, payload, options.sampling, clocked);
  for (std::size_t w = 0; w < ways.size(); ++w)
    findings.points.push_back({subject, ways[w].name, summarise(samples.seconds[w]), samples.phases[w]});
  return samples;
}

void Bench::compare(const Samples& samples, std::size_t way, std::size_t baseline) {
  const auto points = std::span(findings.points).last(samples.seconds.size());
  findings.ratios.push_back({points[way].subject, points[way].series, points[baseline].series,
                             paired_ratio(samples.seconds[way], samples.seconds[baseline])});
}

std::vector<miniapp::FigureOfMerit> typed_over_raw(const Findings& findings) {
  std::vector<double> ratios;
  for (const auto& c : findings.ratios)
    if (c.baseline == "raw") ratios.push_back(c.ratio.median);
  return {{"typed_over_raw", miniapp::median(ratios), "1"},
          {"typed_over_raw_worst", *std::max_element(ratios.begin(), ratios.end()), "1"}};
}

std::unique_ptr<miniapp::MiniApp> make_pingpong(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<PingPong>(options, context);
}

} // namespace kontor::pingpong
