// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/pingpong.hpp"

#include "pingpong/measures.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::pingpong {
namespace {

using Function = void (*)(Bench&);

Function function_of(Measure measure) {
  switch (measure) {
  case Measure::roundtrip: return measure_roundtrip;
  case Measure::bcast: return measure_bcast;
  case Measure::halo: return measure_halo;
  case Measure::collectives: return measure_collectives;
  case Measure::model: return measure_model;
  case Measure::strided: return measure_strided;
  case Measure::exchange: return measure_exchange;
  case Measure::calls: return measure_calls;
  }
  return nullptr;
}

} // namespace

PingPong::PingPong(const Options& options, const miniapp::RunContext& context)
    : options_(options), context_(context) {
  context.progress.describe({"size", "", ""});
  const auto memory = options.sizes.memory ? static_cast<double>(*options.sizes.memory)
                                           : memory_of_rank(context.comm, works_on_device(options.measure));
  cases_ = cases(
      options, memory,
      [&](int dimensions, ScalarName scalar, std::int64_t size) {
        return static_cast<double>(options.fields) *
               bytes_of_views(options.measure, context.comm.size(), dimensions, scalar, size);
      },
      notes_);
  if (pairs_ranks(options.measure) && options.pairs == Pairs::one && context.comm.size() > 2)
    notes_.push_back(
        fmt::format("ranks 0 and 1 are measured, the other {} are idle", context.comm.size() - 2));
  if (!device::kernels_on_host && !works_on_device(options.measure))
    notes_.push_back(
        fmt::format("Views lie in host memory, as one-shot calls want them; measures halo and exchange "
                    "are those of GPU memory"));
}

void PingPong::reset() {
  findings_ = {};
  findings_.notes = notes_;
}

void PingPong::run() {
  Bench bench{options_, context_, cases_, findings_};
  function_of(options_.measure)(bench);
  wrong_ += findings_.wrong;
}

miniapp::Verification PingPong::verify() {
  const comm::Communicator baseline(context_.comm.native(),
                                    comm::Options{}); // what is verified takes no part
  if (comm::allreduce(baseline, findings_.verified ? 1 : 0, comm::ReduceOp::max) == 0)
    return miniapp::inconclusive("nothing that was measured moves data");
  const auto wrong = comm::allreduce(baseline, wrong_, comm::ReduceOp::sum);
  return {"values that arrived wrong", static_cast<double>(wrong), 0};
}

std::vector<miniapp::FigureOfMerit> PingPong::figures(double /*seconds*/, const miniapp::Calibration&) const {
  return findings_.figures;
}

miniapp::AppRecord PingPong::record() const {
  std::vector<std::string_view> scalars;
  for (const auto scalar : options_.scalars) scalars.push_back(name_of(scalar));
  miniapp::AppRecord record;
  record.precision = fmt::format("{}", fmt::join(scalars, " and "));
  record.calibration = findings_.calibration;
  record.table = to_text(findings_);
  record.extras = to_json(findings_);
  record.extras["measure"] = name_of(options_.measure);
  record.extras["memory"] = device::kernels_on_host || !works_on_device(options_.measure) ? "host" : "device";
  return record;
}

} // namespace kontor::pingpong
