// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

/// Cells in a ring of rods, a rod a rank: each becomes the average of its two neighbours in every step.
constexpr int cells = 1000, steps = 500;
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Kokkos::View<double*>::memory_space>::accessible;
using Rod = Kokkos::View<double* [2]>; ///< own cells from 1, a ghost at each end; of even and of odd steps
using Team = Kokkos::TeamPolicy<>::member_type;
inline Kokkos::TeamPolicy<> one_team() { return {1, on_host ? 1 : 256}; }

/// The wave number of a wave that fits five times into each rod.
constexpr double k = 2 * std::numbers::pi * 5 / cells;

inline void begin(const Rod& u) {
  Kokkos::parallel_for(
      "begin", cells, KOKKOS_LAMBDA(int i) { u(i + 1, 0) = std::sin(k * i); });
}

/// By the threads of a team: step number `step` of the own cells.
KOKKOS_INLINE_FUNCTION void average(const Team& team, const Rod& u, int step) {
  const int from = (step - 1) % 2, to = step % 2;
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1, cells + 1),
                       [=](int i) { u(i, to) = (u(i - 1, from) + u(i + 1, from)) / 2; });
  team.team_barrier();
}

/// The sum of squares of the own cells, and the largest error: a step multiplies the wave by cos(k).
inline std::pair<double, double> sums(const Rod& u) {
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const double factor = std::pow(std::cos(k), steps);
  double squares = 0, error = 0;
  for (int i = 0; i < cells; ++i) {
    const double value = on_host(i + 1, steps % 2);
    squares += value * value;
    error = std::max(error, std::abs(value - factor * std::sin(k * i)));
  }
  return {squares, error};
}
