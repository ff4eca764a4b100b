// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kontor::miniapp {

/// Steps that one exchange serves. Steps count from 1.
struct Pass {
  std::int64_t after = 0; ///< number of the step before them
  int steps = 1;
  bool value = false;    ///< the last of them yields a value
  bool exchanges = true; ///< false: as if there were no other rank
};

/// The steps that a launch makes in a row, which it makes alike each time.
struct LaunchPattern {
  int steps = 16;
  int value_every = 0; ///< each so many-th yields a value; 0: none does

  bool value(int step) const { return value_every > 0 && step % value_every == 0; }
  int values() const { return value_every > 0 ? steps / value_every : 0; }
};

/// What the steps of a repeat are, the same on all ranks. Local.
struct StepPlan {
  std::int64_t first = 0; ///< steps made by another run
  std::int64_t limit = 0; ///< number of the last step
  double target = 0;      ///< value at which the steps end; 0: none

  std::int64_t value_every = 0; ///< steps between values, which the last step has, too; 0: none
  bool stops = false;           ///< a value may end the steps; the last step has one
  int together = 1;             ///< the most steps of a pass
  bool last_alone = false;      ///< the last step is in no pass with others
  int period = 1;               ///< steps are alike that are so many apart
  std::int64_t break_every = 0; ///< no launch makes steps beyond a multiple of it; 0: none

  bool value(std::int64_t step) const {
    return value_every > 0 ? step % value_every == 0 || step == limit : stops && step == limit;
  }

  /// The next steps that one exchange can serve, up to `until`: one with a value is in a pass of its own.
  Pass pass(std::int64_t made, std::int64_t until) const {
    const auto alone = [&](std::int64_t step) { return step > until || value(step) || (last_alone && step == limit); };
    Pass pass{made, 1};
    while (pass.steps < together && !alone(made + pass.steps) && !alone(made + pass.steps + 1)) ++pass.steps;
    pass.value = value(made + pass.steps);
    return pass;
  }

  /// The pattern of a launch of at least so many steps, a multiple of `multiple`. Values that are close together are
  /// in it, unless the host waits for each to end the steps; with `ends` the launch ends by them itself.
  LaunchPattern pattern(int at_least, int multiple, bool ends = false) const {
    LaunchPattern pattern{at_least, 0};
    if (value_every > 0 && (stops ? ends : value_every <= at_least))
      pattern.value_every = static_cast<int>(value_every);
    const int every = std::max(1, pattern.value_every);
    for (pattern.steps = 1; pattern.steps < at_least || pattern.steps % every != 0 || pattern.steps % multiple != 0;)
      ++pattern.steps;
    return pattern;
  }

  /// How many of the steps after this one are as in the pattern, one after the other from its first.
  int alike_after(std::int64_t made, const LaunchPattern& pattern) const {
    int i = 0;
    while (i < pattern.steps && made + i < limit && value(made + i + 1) == pattern.value(i + 1)) ++i;
    return i;
  }

  /// The passes of a pattern.
  std::vector<Pass> passes(const LaunchPattern& pattern) const {
    StepPlan of{.limit = pattern.steps, .value_every = pattern.value_every, .together = together};
    std::vector<Pass> result;
    for (std::int64_t made = 0; made < pattern.steps; made += result.back().steps)
      result.push_back(of.pass(made, pattern.steps));
    return result;
  }
};

} // namespace kontor::miniapp
