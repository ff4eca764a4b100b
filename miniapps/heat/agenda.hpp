// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace kontor::heat {

/// The sweeps that a graph makes.
struct GraphShape {
  int sweeps = 16;    ///< an even number, so that the solution stays in the same field
  int norm_every = 0; ///< each so many-th has a norm; 0: none has

  /// Whether sweep i of the graph has one; they count from 1.
  bool norm(int i) const { return norm_every > 0 && i % norm_every == 0; }
  int norms() const { return norm_every > 0 ? sweeps / norm_every : 0; }
};

/// What a run does after which sweep; sweeps count from 1.
struct Agenda {
  std::int64_t limit = 0;          ///< the most sweeps
  std::int64_t check_every = 0;    ///< sweeps between norms; 0: none
  std::int64_t snapshot_every = 0; ///< sweeps between snapshots; 0: none
  bool stops_by_norm = false;      ///< at one that is small enough; the last sweep has one in any case

  bool last(std::int64_t sweep) const { return sweep == limit; }
  bool check(std::int64_t sweep) const {
    return check_every > 0 ? sweep % check_every == 0 || last(sweep) : stops_by_norm && last(sweep);
  }
  bool snapshot(std::int64_t sweep) const {
    return snapshot_every > 0 && sweep % snapshot_every == 0 && !last(sweep);
  }

  /// The graph for these sweeps. It has norms in it where they are close together, unless each is waited for.
  GraphShape graph() const {
    GraphShape shape;
    if (stops_by_norm || check_every == 0 || check_every > shape.sweeps) return shape;
    const int least = shape.sweeps;
    shape.norm_every = static_cast<int>(check_every);
    for (shape.sweeps = shape.norm_every; shape.sweeps < least || shape.sweeps % 2 == 1;)
      shape.sweeps += shape.norm_every;
    return shape;
  }
  /// How many of the sweeps after this one are as in the graph, one after the other from its first.
  int alike_after(std::int64_t sweep, const GraphShape& shape) const {
    int i = 0;
    while (i < shape.sweeps && ++sweep <= limit && check(sweep) == shape.norm(i + 1) && !snapshot(sweep)) ++i;
    return i;
  }
};

} // namespace kontor::heat
