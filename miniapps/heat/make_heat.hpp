// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/heat.hpp"
#include "run/loop/fastest_repeat.hpp"

#include <kontor/comm/exchange/trial.hpp>

#include <memory>

namespace kontor::heat {

/// Collective. Times a sweep of the deck's problem with its steps_per_pass, by the fastest of some short runs.
template <class T>
void time_sweep(stepping::Trial::Candidate& candidate, Options options, const miniapp::RunContext& context) {
  constexpr std::int64_t sweeps = 33;        // two of the longest passes that are tried, and the last sweep
  options.initial = config::Expression{"0"}; // formulas take longer than sweeps
  options.exact.reset();
  options.tolerance = 0;
  options.max_sweeps = sweeps;
  if (options.equation == Equation::transient) {
    options.time_step = options.end_time / options.step_count();
    options.end_time = *options.time_step * sweeps;
  }
  miniapp::Timers timers("heat");
  miniapp::Progress silent{false};
  miniapp::time_candidate(context.comm, candidate, sweeps, [&] {
    return std::make_unique<Heat<T>>(options, miniapp::RunContext{context.comm, context.overlap, timers, silent});
  });
}

/// Collective. The fastest of 1, 2, 4, 8 and 16 steps a pass, as far as these are possible and time is left: as much as
/// a trial may take of a repeat.
template <class T>
stepping::Trial try_pass_lengths(Options options, const miniapp::RunContext& context) {
  stepping::Trial trial;
  const bool steady = options.equation == Equation::steady;
  const double sweeps = steady ? static_cast<double>(options.max_sweeps) : options.step_count();
  double spent = 0, limit = INFINITY;
  for (const std::int64_t length : {1, 2, 4, 8, 16}) {
    trial.candidates.push_back({std::to_string(length), pass_refusal(options, length)});
    auto& candidate = trial.candidates.back();
    if (length > 1 && options.check_every > 0 && length >= options.check_every)
      candidate.refusal = "norms are closer together";
    if (!candidate.refusal && spent > limit) candidate.refusal = "no time is left";
    if (candidate.refusal) continue;
    options.steps_per_pass = length;
    comm::Stopwatch watch;
    time_sweep<T>(candidate, options, context);
    watch.lap(spent);
    spent = comm::max_over_ranks(context.comm, spent);
    if (length == 1 && candidate.seconds) limit = stepping::Trial::limit_of(context.comm, *candidate.seconds * sweeps);
  }
  trial.decide();
  return trial;
}

/// Collective over the context's communicator. Options are resolved. Where they leave steps_per_pass open, a trial
/// chooses it.
template <class T>
std::unique_ptr<miniapp::MiniApp> make_heat(Options options, const miniapp::RunContext& context) {
  stepping::Trial trial;
  if (!options.steps_per_pass) {
    trial = try_pass_lengths<T>(options, context);
    options.steps_per_pass = std::stoll(trial.candidates[trial.chosen].name);
  }
  return std::make_unique<Heat<T>>(options, context, std::move(trial));
}

} // namespace kontor::heat
