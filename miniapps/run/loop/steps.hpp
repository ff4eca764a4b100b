// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/loop/progress.hpp"
#include "run/record/trace.hpp"

namespace kontor::miniapp {

/// Takes a sample of each step of a repeat: the host seconds from the end of the step before it to its own, with what
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

// The loop over the steps of a repeat: sweeps, iterations, panels. An app gives the steps, the loop does what comes
// between them.

/// Steps count from 1.
struct StepPlan {
  std::int64_t first = 0;         ///< steps made by another run
  std::int64_t limit = 0;         ///< number of the last step
  double work_per_step = 0;       ///< of all ranks, in the unit of the progress line
  double target = 0;              ///< value at which the steps end; 0: none
  std::int64_t report_every = 64; ///< steps between updates of the progress line
};

/// Every function is collective.
class Steps {
 public:
  virtual ~Steps() = default;

  /// Prepares a repeat. State is that after plan.first steps on return.
  virtual StepPlan begin() = 0;

  /// Makes the steps after `made`, or queues them on a device: one, or as many as one launch makes, but none after
  /// `until`. Returns their number.
  virtual std::int64_t advance(std::int64_t made, std::int64_t until) = 0;

  /// The first step that ends the repeat by its value; none: not known yet. `wait`: all values are known on return.
  virtual std::optional<std::int64_t> ended(std::int64_t /*made*/, bool /*wait*/) { return std::nullopt; }

  /// Local, the same on all ranks. Whether the last step may still turn out to have ended the repeat: the next launch
  /// makes one step, because no more can be undone.
  virtual bool value_open() const { return false; }

  /// Undoes the last step, a launch of its own, which came after the one that ended the repeat.
  virtual void step_back() {}

  /// Waits for all steps and their values.
  virtual void drain() = 0;

  /// Local. The latest value, for the progress line.
  virtual double value() const { return 0; }
};

/// What the loop does between steps; every function is collective.
struct BetweenSteps {
  Progress* progress = nullptr;
  StepClock* clock = nullptr;
  /// Called before each launch; true ends the repeat. What needs complete steps calls drain() first.
  std::function<bool(std::int64_t made, const std::function<void()>& drain)> ends = {};
  std::int64_t snapshot_every = 0; ///< steps; 0: no snapshots
  /// Called after drain(), for every so many-th step but the last.
  std::function<void(std::int64_t made)> snapshot = {};
};

/// Collective. Makes the steps of a repeat. Returns the number of the last one; it is complete. Asks for the end after
/// each launch and each drain(). Throws std::logic_error if more than one step is to be undone.
std::int64_t run_steps(Steps&, const BetweenSteps&);

} // namespace kontor::miniapp
