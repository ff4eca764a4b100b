// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace kontor::stepping {

/// The steps that a graph makes.
struct GraphShape {
  int steps = 16;     ///< an even number, so that what alternates between two fields ends where it began
  int norm_every = 0; ///< each so many-th has a norm; 0: none has

  /// Whether step i of the graph has one; they count from 1.
  bool norm(int i) const { return norm_every > 0 && i % norm_every == 0; }
  int norms() const { return norm_every > 0 ? steps / norm_every : 0; }
};

/// How many of the next steps one exchange serves, at most `most`: alone(n) tells whether the n-th of them cannot be
/// made with others.
template <class Alone>
int steps_together(int most, const Alone& alone) {
  int steps = 0;
  while (steps < most && !alone(steps + 1)) ++steps;
  return steps > 0 ? steps : 1;
}

/// What a run does after which step; steps count from 1.
struct StepSchedule {
  std::int64_t limit = 0;          ///< the most steps
  std::int64_t check_every = 0;    ///< steps between norms; 0: none
  std::int64_t snapshot_every = 0; ///< steps between snapshots; 0: none
  bool stops_by_norm = false;      ///< at one that is small enough; the last step has one in any case

  bool last(std::int64_t step) const { return step == limit; }
  bool check(std::int64_t step) const {
    return check_every > 0 ? step % check_every == 0 || last(step) : stops_by_norm && last(step);
  }
  bool snapshot(std::int64_t step) const { return snapshot_every > 0 && step % snapshot_every == 0 && !last(step); }

  /// The graph for these steps, at least so many. It has norms in it where they are close together, unless each is
  /// waited for. With `ends` steps end in it by their norms.
  GraphShape graph(int at_least = GraphShape().steps, bool ends = false) const {
    GraphShape shape{.steps = at_least};
    if (check_every == 0 || (stops_by_norm ? !ends : check_every > shape.steps)) return shape;
    const int least = shape.steps;
    shape.norm_every = static_cast<int>(check_every);
    for (shape.steps = shape.norm_every; shape.steps < least || shape.steps % 2 == 1;) shape.steps += shape.norm_every;
    return shape;
  }
  /// How many of the steps after this one are as in the graph, one after the other from its first.
  int alike_after(std::int64_t step, const GraphShape& shape) const {
    int i = 0;
    while (i < shape.steps && ++step <= limit && check(step) == shape.norm(i + 1) && !snapshot(step)) ++i;
    return i;
  }
};

} // namespace kontor::stepping
