// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/run_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace kontor::miniapp {
namespace {

/// Takes a sample of each launch of a repeat: the host seconds from the end of the one before it to its own, with what
/// is waited for in between, such as norms, and without files. Steps that are queued on a device take the time of their
/// launch.
class StepClock {
 public:
  explicit StepClock(Timers* timers) : timers_(timers), samples_(timers ? &timers->durations("step") : nullptr) {}

  /// What was done since the last step is not part of the next one.
  void skip() { last_ = device::seconds(); }
  /// Returns the time.
  double made(std::int64_t steps) {
    const double now = device::seconds();
    if (!timers_) return now;
    samples_->add(now - std::exchange(last_, now));
    timers_->steps_made(steps);
    return now;
  }

 private:
  Timers* timers_;
  Distribution* samples_;
  double last_ = device::seconds();
};

} // namespace

std::int64_t run_steps(Launches& launches, const BetweenSteps& between) {
  StepClock clock(between.timers);
  auto plan = launches.begin();
  plan.limit = std::min(plan.limit, between.limit);
  auto& steps = launches.steps();
  auto made = plan.first;
  std::int64_t launched = 0; // steps of the last launch
  bool drained = false;      // after that launch
  const auto next = [&](std::int64_t every) { return (made / every + 1) * every; };
  const auto ended = [&](bool wait) {
    const auto end = steps.ended(made, wait);
    if (!end || *end == made) return end.has_value();
    if (*end != made - 1 || launched != 1)
      throw std::logic_error(fmt::format("step {} ends the repeat, but {} are made, the last {} by one launch; only a "
                                         "launch of one step can be undone",
                                         *end, made, launched));
    steps.step_back();
    --made;
    return true;
  };
  const auto drain = [&] {
    steps.drain();
    drained = true;
  };
  bool over = ended(false);
  while (!over && made < plan.limit) {
    if (between.ends && between.ends(made, drain)) break;
    if (std::exchange(drained, false)) {
      clock.skip();
      if (over = ended(true); over) break;
    }
    const auto until = between.snapshot_every > 0 ? std::min(plan.limit, next(between.snapshot_every)) : plan.limit;
    launched = launches.advance(made, until);
    made += launched;
    const double now = clock.made(launched);
    if (between.progress) between.progress->update({made, plan.limit, steps.value(), plan.target}, now);
    const bool snapshot = between.snapshot_every > 0 && made == until && made < plan.limit;
    over = ended(snapshot || made == plan.limit);
    if (!snapshot || over) continue;
    steps.drain();
    between.snapshot(made);
    clock.skip();
  }
  steps.drain();
  return made;
}

} // namespace kontor::miniapp
