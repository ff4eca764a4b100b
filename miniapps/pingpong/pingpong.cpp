// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::pingpong {
namespace {

/// In the order of Measure.
constexpr Measurement* functions[] = {measure_roundtrip, measure_halo,  measure_collectives, measure_model,
                                      measure_exchange,  measure_calls, measure_exchange};

class PingPong final : public miniapp::MiniApp {
 public:
  PingPong(const Options& options, const miniapp::RunContext& context)
      : bench_{options, context}, on_host_(device::kernels_on_host || !compares_methods(options.measure)) {
    context.progress.describe({"size", ""});
    const int ranks = context.comm.size();
    const auto memory = options.sizes.memory ? static_cast<double>(*options.sizes.memory)
                                             : memory_of_rank(context.comm, compares_methods(options.measure));
    bench_.cases = cases(options, ranks, memory, bench_.notes);
    if (pairs_ranks(options.measure) && options.pairs == Pairs::one && ranks > 2)
      bench_.notes.push_back(fmt::format("ranks 0 and 1 are measured, the other {} are idle", ranks - 2));
    if (on_host_ && !device::kernels_on_host)
      bench_.notes.push_back("Views lie in host memory, as one-shot calls want them; measures halo and exchange are "
                             "those of GPU memory");
  }

  void warm_up() override {} ///< each method is warmed up where it is measured
  void reset() override {
    bench_.findings = {};
    bench_.findings.notes = bench_.notes;
    bench_.added = {};
  }

  void run() override {
    auto& findings = bench_.findings;
    const auto measure = bench_.options.measure.value;
    functions[static_cast<std::size_t>(measure)](bench_);
    if (findings.figures.empty() && !findings.ratios.empty()) findings.figures = typed_over_raw(findings);
    if (measure == Measure::calls)
      for (const auto& [call, seconds] : bench_.added)
        findings.figures.push_back({call + "_added", miniapp::median(seconds), "s"});
    wrong_ += findings.wrong;
  }

  miniapp::Verification verify() override {
    const auto& comm = bench_.comm();
    const comm::Communicator baseline(comm.native(), comm::Options{}); // with a backend that is not measured
    if (comm::allreduce(baseline, bench_.findings.verified ? 1 : 0, comm::ReduceOp::max) == 0)
      return {.measure = "nothing that was measured moves data", .off = true};
    const auto wrong = comm::allreduce(baseline, wrong_, comm::ReduceOp::sum);
    return {"values that arrived wrong", static_cast<double>(wrong), 0};
  }

  std::vector<miniapp::FigureOfMerit> figures(double /*seconds*/, const miniapp::Calibration&) const override {
    return bench_.findings.figures;
  }

  nlohmann::ordered_json record() const override {
    std::vector<std::string_view> scalars;
    for (const auto scalar : bench_.options.scalars) scalars.push_back(name_of(scalar));
    auto record = to_json(bench_.findings);
    record["precision"] = fmt::format("{}", fmt::join(scalars, " and "));
    record["calibration"] = bench_.findings.calibration;
    record["measure"] = name_of(bench_.options.measure);
    record["memory"] = on_host_ ? "host" : "device";
    return record;
  }
  std::string table() const override { return to_text(bench_.findings); }

  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  Bench bench_;
  bool on_host_;           ///< where the Views lie
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
