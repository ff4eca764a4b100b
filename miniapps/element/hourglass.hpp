// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/hexahedron.hpp"
#include "element/tensor.hpp"

/// Forces of a hexahedron with one point of integration, and its hourglass modes: the deformations that this point does
/// not see. A mode's shape at corner I is base(I) - b(j, I) of_x(j) / volume, so that no linear field has a part in it.
namespace kontor::element {

/// What an element's coordinates are used for.
template <class V>
struct Shape {
  Corners<V> b;                                 ///< 12 derivatives of the volume by coordinates
  V of_x[4][3];                                 ///< of_x / (12 volumes) of each mode
  V volume, inverse, squares = all_lanes<V>(0); ///< 1 / volume; the sum of b b

  /// From coordinates relative to corner 0.
  KOKKOS_INLINE_FUNCTION void take(const Corners<V>& x) {
    unroll<3>([&](auto axis) {
      volume_gradient<axis>(x, b.at[axis]);
      squares += dot(b.at[axis], b.at[axis]);
      unroll<4>([&](auto mode) { of_x[mode][axis] = with_base<mode>(x.at[axis]); });
    });
    volume = dot(x.at[0], b.at[0]) * static_cast<Scalar<V>>(1.0 / 12);
    inverse = 1 / volume;
    const V scale = inverse * static_cast<Scalar<V>>(1.0 / 12);
    unroll<4>([&](auto mode) { unroll<3>([&](auto axis) { of_x[mode][axis] *= scale; }); });
  }

  /// The parts that component i of a field, given at corners, has in each mode.
  template <class I>
  KOKKOS_INLINE_FUNCTION void project(I i, const V (&field)[8], V (&parts)[4][3]) const {
    unroll<4>([&](auto mode) { parts[mode][i] = with_base<mode>(field); });
    unroll<3>([&](auto j) {
      const V rate = dot(field, b.at[j]); // 12 volumes times the gradient
      unroll<4>([&](auto mode) { parts[mode][i] -= rate * of_x[mode][j]; });
    });
  }

  /// Forces on the corners, of Cauchy stress and of the resistance to each mode.
  KOKKOS_INLINE_FUNCTION void forces(const Symmetric<V>& cauchy, const V (&resistance)[4][3], V (&force)[8][3]) const {
    Tensor<V> on_b; // what b is multiplied by: stress, and parts of hourglass forces
    detail::each_entry([&](auto i, auto j) {
      on_b(i, j) = cauchy(i, j) * static_cast<Scalar<V>>(1.0 / 12);
      unroll<4>([&](auto mode) { on_b(i, j) -= resistance[mode][i] * of_x[mode][j]; });
    });
    unroll<8>([&](auto c) {
      unroll<3>([&](auto i) {
        force[c][i] =
            -(on_b(i, Index<0>()) * b.at[0][c] + on_b(i, Index<1>()) * b.at[1][c] + on_b(i, Index<2>()) * b.at[2][c]);
        unroll<4>([&](auto mode) { add<(hourglass_base(mode, c) > 0)>(force[c][i], resistance[mode][i]); });
      });
    });
  }
};

} // namespace kontor::element
