// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/fields.hpp"
#include "element/hourglass.hpp"

namespace kontor::dynamics {

/// Resistance to the deformation modes that a single point of integration does not see.
struct Hourglass {
  double stiffness = 0; ///< part of the greatest stiffness of the element
  double viscosity = 0; ///< part of the critical damping
};

/// Adds the work of a step by the forces at its ends, each for half of the steps around it; that of the first half step
/// comes with the first one.
template <class T, class V>
KOKKOS_INLINE_FUNCTION void sum_viscous_work(const ElementView<T>& viscous, LocalIndex block, const V& damper,
                                             const V (&of_v)[4][3], T step_before, T step) {
  V work = viscous(block, 12);
  const T of_start = step_before > 0 ? T(0) : step / 4;
  for (int n = 0; n < 12; ++n) {
    const V before = viscous(block, n), now = damper * of_v[n / 3][n % 3];
    work += of_v[n / 3][n % 3] * ((step_before + step) / 4 * before + step / 2 * now);
    work += of_start * before * before / damper;
    viscous(block, n) = now;
  }
  viscous(block, 12) = work;
}

/// Local; queued on `instance`. Elastic stress after the step, hourglass resistance, the forces of each element at its
/// corners, and its stable step.
///
/// That is 2 / w with w^2 = 8 (lambda + 2 mu) b b / (density volume^2), a bound of the element's greatest eigenvalue
/// (Flanagan and Belytschko 1981, section 5). A hourglass mode has that stiffness times hourglass.stiffness, and is
/// damped by hourglass.viscosity; the step is reduced for both. An element turned inside out gives 0.
/// 84 numbers read, 43 written, 1150 flops.
///
/// Velocities along y and z are collected after coordinates are used, and projections alone are kept: fewer registers.
template <class T>
void stress(const Space& instance, const Blocks& blocks, const NodeFields<T>& nodes, const ElementFields<T>& elements,
            const Hourglass& resistance, const Clock& clock) {
  using V = Lanes<T>;
  const T stiffness = static_cast<T>(resistance.stiffness), viscosity = static_cast<T>(resistance.viscosity);
  const T reduction =
      static_cast<T>(2 * (std::sqrt(1 + resistance.viscosity * resistance.viscosity) - resistance.viscosity) /
                     std::sqrt(1 + resistance.stiffness));
  Kokkos::parallel_for(
      "dynamics/stress", range(instance, blocks), KOKKOS_LAMBDA(LocalIndex block) KONTOR_FLATTEN {
        const T step = static_cast<T>(clock(last_step));
        Shape<V> shape;
        V v[8], w[8], of_v[4][3];
        {
          Corners<V> x;
          gather<0>(elements.corner, nodes.motion, block, x.at[0], x.at[1], x.at[2], v);
          shift_to_corner(x);
          shape.take(x);
        }
        shape.project(Index<0>(), v, of_v);
        gather<2>(elements.corner, nodes.motion, block, v, w);
        shape.project(Index<1>(), v, of_v);
        shape.project(Index<2>(), w, of_v);

        V material[3];
        load(elements.material, block, material);
        const V &lambda = material[0], &mu = material[1], &mass = material[2];
        const V greatest = // eigenvalue, mass of 1/8
            (lambda + 2 * mu) * shape.squares * shape.inverse * static_cast<T>(1.0 / 144);
        const V frequency = square_root(8 * greatest / mass);
        elements.stable_step(block, 0) = shape.volume > 0 ? reduction / frequency : all_lanes<V>(0); // 0 of a NaN, too

        Symmetric<V> stress, strain;
        Tensor<V> rotation;
        load(elements.stress, block, stress.at);
        load(elements.rotation, block, rotation.at);
        unroll<6>([&](auto n) { strain.at[n] = elements.rate(block, static_cast<int>(n)); });
        const V dilation = lambda * trace(strain);
        unroll<6>([&](auto n) {
          const V elastic = 2 * mu * strain.at[n];
          stress.at[n] += step * (n < 3 ? dilation + elastic : elastic);
        });
        store(elements.stress, block, stress.at);

        const V spring = step * (stiffness * greatest * static_cast<T>(0.125));
        const V damper = viscosity * frequency * mass * static_cast<T>(1.0 / 32);
        if (viscosity > 0)
          sum_viscous_work(elements.viscous, block, damper, of_v, static_cast<T>(clock(step_before)), step);
        V resisting[4][3], force[8][3];
        unroll<4>([&](auto mode) {
          V unrotated[3], held[3];
          rotate<true>(rotation, of_v[mode], unrotated);
          unroll<3>([&](auto i) {
            auto& entry = elements.hourglass(block, 3 * static_cast<int>(mode) + static_cast<int>(i));
            held[i] = entry + spring * unrotated[i];
            entry = held[i];
          });
          rotate<false>(rotation, held, resisting[mode]);
          unroll<3>([&](auto i) { resisting[mode][i] += damper * of_v[mode][i]; });
        });
        shape.forces(rotated<false>(rotation, stress), resisting, force);
        store_at_corners(elements.force, block, force);
      });
}

/// Local; queued on `instance`. The least of the elements' stable steps.
template <class T>
void least_stable_step(const Space& instance, const ElementFields<T>& elements, const Kokkos::View<double[1]>& least) {
  const auto blocks = static_cast<LocalIndex>(elements.stable_step.extent(0));
  // On a device few threads take several blocks each: the reduction of all threads costs more than the reading.
  const auto rows = device::kernels_on_host ? blocks : std::min<LocalIndex>(blocks, 1 << 15);
  Kokkos::parallel_reduce(
      "dynamics/least step", range(instance, 0, rows),
      KOKKOS_LAMBDA(LocalIndex row, double& least_of_some) {
        for (auto block = row; block < blocks; block += rows)
          for (int l = 0; l < width<T>; ++l) {
            const double stable = static_cast<double>(lane(elements.stable_step(block, 0), l));
            least_of_some = stable < least_of_some ? stable : least_of_some;
          }
      },
      Kokkos::Min<double, Space::memory_space>(Kokkos::View<double>(least.data())));
}

} // namespace kontor::dynamics
