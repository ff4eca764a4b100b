// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/fields.hpp"

namespace kontor::dynamics {

/// Local; queued on `instance`. The next step is `fixed` long, or, if that is 0, `factor` times the stable one.
inline void advance_clock(const Space& instance, const Clock& clock, double factor, double fixed) {
  Kokkos::parallel_for(
      "dynamics/clock", range(instance, 0, 1), KOKKOS_LAMBDA(LocalIndex) {
        clock(step_before) = clock(last_step);
        clock(last_step) = fixed > 0 ? fixed : factor * clock(least_stable);
        clock(elapsed) += clock(last_step);
        clock(ticks) += 1;
        if (!(clock(step_before) > 0)) return;
        const double change = clock(last_step) / clock(step_before) - 1;
        clock(variation) += change > 0 ? change : -change;
      });
}

/// Local; queued on `instance`. Central differences: accelerations, velocities half a step later, displacements after
/// the step, of nodes [begin, end). 12 numbers and a mass read, 9 written, 21 flops.
template <class T>
void integrate(const Space& instance, LocalIndex begin, LocalIndex end, const NodeFields<T>& nodes,
               const Clock& clock) {
  Kokkos::parallel_for(
      "dynamics/integrate", range(instance, begin, end), KOKKOS_LAMBDA(LocalIndex node) {
        if (nodes.held(node)) return;
        const double middle = 0.5 * (clock(step_before) + clock(last_step)) / nodes.mass(node);
        const T step = static_cast<T>(clock(last_step));
        auto* const pairs =
            reinterpret_cast<Pair<T>*>(&nodes.motion(node, 0)); // a device reads and writes them at once
        Pair<T> motion[3] = {pairs[0], pairs[1], pairs[2]};
        for (int i = 0; i < 3; ++i) {
          T& velocity = motion[(3 + i) / 2].at[(3 + i) % 2];
          velocity += static_cast<T>(middle * nodes.force(node, i));
          const T displacement = nodes.displacement(node, i) + step * velocity;
          nodes.displacement(node, i) = displacement;
          motion[i / 2].at[i % 2] = nodes.place(node, i) + displacement;
        }
        for (int i = 0; i < 3; ++i) pairs[i] = motion[i];
      });
}

} // namespace kontor::dynamics
