// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/steps.hpp"

#include <algorithm>

namespace kontor::miniapp {

std::int64_t run_steps(Steps& steps, const BetweenSteps& between) {
  const auto plan = steps.begin();
  auto made = plan.first;
  const auto next = [&](std::int64_t every) { return (made / every + 1) * every; };
  const auto ended = [&](bool wait) {
    const auto end = steps.ended(made, wait);
    for (; end && made > *end; --made) steps.step_back();
    return end.has_value();
  };
  bool over = ended(false);
  while (!over && made < plan.limit && !(between.ends && between.ends(made))) {
    const auto report = next(plan.report_every);
    const auto until = between.snapshot_every > 0 ? std::min(plan.limit, next(between.snapshot_every)) : plan.limit;
    const auto count = steps.advance(made, until);
    made += count;
    if (between.clock) between.clock->made(count);
    if (between.progress && made >= report)
      between.progress->update({made, plan.limit, steps.value(), plan.target, plan.work_per_step});
    const bool snapshot = between.snapshot_every > 0 && made == until && made < plan.limit;
    over = ended(snapshot || made == plan.limit);
    if (!snapshot || over) continue;
    steps.drain();
    between.snapshot(made);
    if (between.clock) between.clock->skip();
  }
  steps.drain();
  return made;
}

} // namespace kontor::miniapp
