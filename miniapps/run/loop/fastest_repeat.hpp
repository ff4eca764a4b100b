// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/mini_app.hpp"
#include "stepping/trial.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/exchange/trial.hpp>
#include <kontor/comm/phase_times.hpp>

#include <algorithm>
#include <limits>
#include <string_view>

namespace kontor::miniapp {

/// Collective. The seconds of the slowest rank in the fastest of some repeats: of as many as take 25 ms together. For
/// a trial among ways to solve one problem.
inline double fastest_repeat(const comm::Communicator& comm, MiniApp& app) {
  constexpr double enough = 0.025;
  double fastest = std::numeric_limits<double>::infinity();
  for (double together = 0; together < enough;) {
    app.reset();
    comm::max_over_ranks(comm, 0); // a barrier
    comm::Stopwatch watch;
    double seconds = 0;
    app.run();
    watch.lap(seconds);
    seconds = comm::max_over_ranks(comm, seconds);
    fastest = std::min(fastest, seconds);
    together += seconds;
  }
  return fastest;
}

/// Collective. Times a candidate of a trial by the app that make() returns, whose repeat does the work so often. It is
/// refused where memory lacks.
template <class Make>
void time_candidate(const comm::Communicator& comm, stepping::Trial::Candidate& candidate, double times,
                    const Make& make) {
  try {
    const auto app = make();
    app->warm_up();
    candidate.seconds = fastest_repeat(comm, *app) / times;
  } catch (const comm::AgreedError& error) {
    const std::string_view what = error.what();
    for (const auto* id : {"[E-MEMORY]", "[E-SPACE-SHM]"})
      if (what.find(id) != std::string_view::npos) candidate.refusal = "it does not fit in memory";
    if (!candidate.refusal) throw;
  }
}

} // namespace kontor::miniapp
