// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/fields.hpp"
#include "element/polar.hpp"

namespace kontor::dynamics {

/// Local; queued on `instance`. Stretch and rotation of each element after the step, and the strain rate in the
/// unrotated frame, from the velocity gradient. 24 numbers read, 21 written, 320 flops.
template <class T>
void rotate(const Space& instance, const Blocks& blocks, const ElementFields<T>& elements, const Clock& clock) {
  using V = Lanes<T>;
  Kokkos::parallel_for(
      "dynamics/rotate", range(instance, blocks), KOKKOS_LAMBDA(LocalIndex block) KONTOR_FLATTEN {
        Tensor<V> rate, rotation;
        Symmetric<V> stretch;
        load(elements.rate, block, rate.at);
        load(elements.stretch, block, stretch.at);
        load(elements.rotation, block, rotation.at);
        const auto strain = deform(rate, static_cast<T>(clock(last_step)), stretch, rotation);
        store(elements.stretch, block, stretch.at);
        store(elements.rotation, block, rotation.at);
        store(elements.rate, block, strain.at);
      });
}

} // namespace kontor::dynamics
