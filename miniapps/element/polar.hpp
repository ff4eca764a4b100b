// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/tensor.hpp"

/// The polar decomposition of a deformation, left stretch times rotation, step by step: D. P. Flanagan, L. M. Taylor,
/// "An accurate numerical algorithm for stress integration with finite rotations", Comput. Meth. Appl. Mech. Engng. 62,
/// 1987.
namespace kontor::element {

/// The rotation that a rigid body makes in a step with this angular velocity times half the step: the Cayley transform
/// of its skew matrix A, I + 2 (A + A A) / (1 + |a|^2). Orthogonal to rounding.
template <class V>
KOKKOS_INLINE_FUNCTION Tensor<V> cayley(const V (&a)[3]) {
  const V xx = a[0] * a[0], yy = a[1] * a[1], zz = a[2] * a[2], xy = a[0] * a[1], yz = a[1] * a[2], zx = a[2] * a[0];
  const V scale = 2 / (1 + xx + yy + zz);
  return {{1 - scale * (yy + zz), scale * (xy - a[2]), scale * (zx + a[1]), scale * (xy + a[2]), 1 - scale * (zz + xx),
           scale * (yz - a[0]), scale * (zx - a[1]), scale * (yz + a[0]), 1 - scale * (xx + yy)}};
}

/// Stretch and rotation after a step with the velocity gradient `rate`; returns the strain rate in the unrotated frame.
/// The angular velocity of the rotation is that of the spin plus (tr V - V)^-1 times the dual vector of D V - V D.
template <class V>
KOKKOS_INLINE_FUNCTION Symmetric<V> deform(const Tensor<V>& rate, Scalar<V> step, Symmetric<V>& stretch,
                                           Tensor<V>& rotation) {
  const auto half = static_cast<Scalar<V>>(0.5);
  Symmetric<V> strain, shifted;
  detail::each_packed([&](auto i, auto j) { strain(i, j) = half * (rate(i, j) + rate(j, i)); });
  const auto turned = product(strain, stretch); // minus its transpose: D V - V D
  const V sum = trace(stretch);
  unroll<6>([&](auto n) { shifted.at[n] = (n < 3 ? sum : all_lanes<V>(0)) - stretch.at[n]; });
  const V dual[3] = {turned.at[7] - turned.at[5], turned.at[2] - turned.at[6], turned.at[3] - turned.at[1]};
  V omega[3];
  solve(shifted, dual, omega);
  omega[0] += half * (rate.at[7] - rate.at[5]);
  omega[1] += half * (rate.at[2] - rate.at[6]);
  omega[2] += half * (rate.at[3] - rate.at[1]);

  const V angle[3] = {omega[0] * (half * step), omega[1] * (half * step), omega[2] * (half * step)};
  rotation = product(cayley(angle), rotation);
  const V zero = all_lanes<V>(0);
  const Tensor<V> spin{{zero, -omega[2], omega[1], omega[2], zero, -omega[0], -omega[1], omega[0], zero}};
  const auto stretched = product(rate, stretch), spun = product(stretch, spin);
  detail::each_packed([&](auto i, auto j) {
    stretch(i, j) += half * step * ((stretched(i, j) - spun(i, j)) + (stretched(j, i) - spun(j, i)));
  });
  return rotated<true>(rotation, strain);
}

} // namespace kontor::element
