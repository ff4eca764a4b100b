// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/trace.hpp"

namespace kontor::miniapp {

/// Takes a sample of each launch of a repeat: the host seconds from the end of the one before it to its own, with what
/// is waited for in between, such as norms, and without files. Ends a trace after its steps. Steps that are queued on a
/// device take the time of their launch.
class StepClock {
 public:
  /// Local. Begins.
  explicit StepClock(Timers& timers) : timers_(timers), durations_(timers.durations("step")) {}

  /// Local. What was done since the last step is not part of the next one.
  void skip() { last_ = device::seconds(); }
  void made(std::int64_t steps) {
    const double now = device::seconds();
    durations_.add(now - last_);
    last_ = now;
    if (auto* const trace = timers_.trace(); trace && trace->made(steps)) timers_.trace(nullptr);
  }

 private:
  Timers& timers_;
  Distribution& durations_;
  double last_ = device::seconds();
};

} // namespace kontor::miniapp
