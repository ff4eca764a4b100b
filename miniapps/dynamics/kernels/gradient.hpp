// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/fields.hpp"

namespace kontor::dynamics {

/// Local; queued on `instance`. The velocity gradient of each element in the middle of the last step, at which a rigid
/// rotation has no strain rate: rate = v(i, I) b(j, I) / volume. 48 numbers read at corners, 9 written, 547 flops.
template <class T>
void gradient(const Space& instance, const Blocks& blocks, const NodeFields<T>& nodes, const ElementFields<T>& elements,
              const Clock& clock) {
  using V = Lanes<T>;
  Kokkos::parallel_for(
      "dynamics/gradient", range(instance, blocks), KOKKOS_LAMBDA(LocalIndex block) KONTOR_FLATTEN {
        const T half_step = static_cast<T>(0.5 * clock(last_step));
        Corners<V> v, x;
        gather<0>(elements.corner, nodes.motion, block, x.at[0], x.at[1], x.at[2], v.at[0], v.at[1], v.at[2]);
        unroll<24>([&](auto n) { x.at[n / 8][n % 8] -= half_step * v.at[n / 8][n % 8]; });
        shift_to_corner(x);
        V rate[9], scale;
        unroll<3>([&](auto axis) {
          V b[8];
          volume_gradient<axis>(x, b);
          unroll<3>([&](auto i) { rate[3 * i + axis] = dot(v.at[i], b); });
          if constexpr (axis == 0) scale = 1 / dot(x.at[0], b); // 12 volumes
        });
        unroll<9>([&](auto n) { rate[n] *= scale; });
        store(elements.rate, block, rate);
      });
}

} // namespace kontor::dynamics
