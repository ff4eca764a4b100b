// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/loop/launches.hpp"
#include "run/loop/progress.hpp"

#include <cstdint>
#include <functional>
#include <limits>

namespace kontor::miniapp {

/// What the loop does between launches; every function is collective.
struct BetweenSteps {
  Progress* progress = nullptr;
  Timers* timers = nullptr; ///< take samples of launches; their trace ends after its steps
  /// Called before each launch; true ends the repeat. What needs complete steps calls drain() first.
  std::function<bool(std::int64_t made, const std::function<void()>& drain)> ends = {};
  std::int64_t snapshot_every = 0; ///< steps; 0: no snapshots
  /// Called after drain(), for every so many-th step but the last.
  std::function<void(std::int64_t made)> snapshot = {};
  std::int64_t limit = std::numeric_limits<std::int64_t>::max(); ///< number of the last step, if the plan has more
};

/// Collective. Makes the steps of a repeat. Returns the number of the last one; it is complete. Asks for the end after
/// each launch and each drain(). Throws std::logic_error if more than one step is to be undone.
std::int64_t run_steps(Launches&, const BetweenSteps&);

} // namespace kontor::miniapp
