// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/loop/stop_request.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// Fair comparison of several ways to do the same thing.
namespace kontor::timing {

/// How one learns where the time of some executions goes.
struct Phases {
  const comm::PhaseTimes* times = nullptr; ///< what executions add to while they are measured; null: nobody knows
  std::function<void(bool on)> measure;    ///< begins to measure them, and ends it
};

/// Those of an exchange, which outlives them.
template <class Exchange>
Phases phases_of(Exchange& exchange) {
  return {&exchange.times(), [&exchange](bool on) { exchange.measure_times(on); }};
}

struct Way {
  std::string name;
  std::function<void(int executions)> run; ///< what is timed; collective
  Phases phases{};                         ///< measured in executions of their own
  bool verified = true;                    ///< false: it moves no data
};

/// What travels. Not timed.
struct Payload {
  std::function<void(int seed)> fill;          ///< values that all differ from those of the seed before
  std::function<std::int64_t(int seed)> wrong; ///< how many values on this rank are not what the seed makes
};

/// Keys of a deck.
struct Sampling {
  std::int64_t repetitions = 101;
  std::int64_t warm_up = 5; ///< executions before that
  double shortest = 2e-4;   ///< s; executions that take less are timed several at a time

  void describe(config::Visitor&);
};

struct Samples {
  std::vector<std::vector<double>> seconds; ///< of one execution: [way][repetition]
  std::vector<comm::PhaseTimes> phases;     ///< of one execution: [way], medians of the rank that takes longest
  int executions = 1;                       ///< in a sample, equal for all ways
  std::int64_t wrong = 0;                   ///< values on this rank, all repetitions and the warm-up together
  bool verified = false;                    ///< whether values were looked at
};

/// Collective. All ways are tried in every repetition, and the one that goes first changes from each repetition to the
/// next. Before each sample the payload is made new and the ranks meet at a barrier; after it some executions more, an
/// eighth as many, tell the phases where they are known, and the payload is verified. Times are those of the slowest
/// rank among the `clocked` ones. Valid on every rank. `end` is asked between samples, unless it is null; throws
/// miniapp::EndedEarly on all ranks if the run is to end.
Samples interleave(const comm::Communicator&, std::span<const Way>, const Payload&, const Sampling&,
                   miniapp::StopRequest* end, bool clocked);

} // namespace kontor::timing
