// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/heat.hpp"

#include <kontor/comm/exchange/trial.hpp>

#include <memory>
#include <string_view>

namespace kontor::heat {

/// Collective. The seconds of a sweep of the deck's problem with its steps_per_pass, by the fastest of some short runs;
/// nothing where it does not fit in memory.
template <class T>
std::optional<double> seconds_of_sweep(Options options, const miniapp::RunContext& context) {
  constexpr std::int64_t sweeps = 33;        // two of the longest passes that are tried, and the last sweep
  constexpr double enough = 0.1;             // seconds
  options.initial = config::Expression{"0"}; // formulas take longer than sweeps
  options.exact.reset();
  options.tolerance = 0;
  options.max_sweeps = sweeps;
  if (options.equation == Equation::transient) {
    options.time_step = options.end_time / options.step_count();
    options.end_time = *options.time_step * sweeps;
  }
  miniapp::Timers timers("heat");
  miniapp::Progress silent{miniapp::Progress::Style::silent};
  try {
    Heat<T> heat(options, {context.comm, context.overlap, timers, silent});
    heat.warm_up();
    double fastest = INFINITY;
    for (double together = 0; together < enough;) {
      heat.reset();
      comm::max_over_ranks(context.comm, 0); // a barrier
      comm::Stopwatch watch;
      double seconds = 0;
      heat.run();
      watch.lap(seconds);
      seconds = comm::max_over_ranks(context.comm, seconds);
      fastest = std::min(fastest, seconds / sweeps);
      together += seconds;
    }
    return fastest;
  } catch (const comm::AgreedError& error) {
    if (std::string_view(error.what()).find("[E-MEMORY]") == std::string_view::npos) throw;
    return std::nullopt;
  }
}

/// Collective over the context's communicator. Options are resolved. Where they leave steps_per_pass open, it is the
/// fastest in a trial of 1, 2, 4, 8 and 16, as far as these are possible.
template <class T>
std::unique_ptr<miniapp::MiniApp> make_heat(Options options, const miniapp::RunContext& context) {
  PassLengths tried;
  if (!options.steps_per_pass) {
    std::vector<double> seconds;
    for (const std::int64_t length : {1, 2, 4, 8, 16}) {
      const bool between_norms = options.check_every == 0 || length < options.check_every;
      if (length > 1 && (!between_norms || pass_refusal(options, length))) continue;
      options.steps_per_pass = length;
      if (const auto of_sweep = seconds_of_sweep<T>(options, context)) {
        tried.emplace_back(length, *of_sweep);
        seconds.push_back(*of_sweep);
      }
    }
    options.steps_per_pass = tried.empty() ? 1 : tried[comm::choose(seconds)].first;
  }
  return std::make_unique<Heat<T>>(options, context, std::move(tried));
}

} // namespace kontor::heat
