// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

/// Particles on a line, each pulled by all: the pull on one is the sum of the distances to the others.
using Particles = Kokkos::View<double*, Kokkos::HostSpace>;

inline constexpr int particles_per_rank = 1000;

/// Particle i of all sits at place i, so that every sum is exact.
inline Particles particles_of(int rank) {
  const Particles places("places", particles_per_rank);
  for (int i = 0; i < particles_per_rank; ++i) places(i) = rank * particles_per_rank + i;
  return places;
}

inline void add_pull(const Particles& visitors, const Particles& places, const Particles& pull) {
  for (int i = 0; i < particles_per_rank; ++i)
    for (int j = 0; j < particles_per_rank; ++j) pull(i) += visitors(j) - places(i);
}

/// Of n particles at 0, 1, ... n - 1, the one at x is pulled by n (n - 1) / 2 - n x.
inline bool is_right(const Particles& places, const Particles& pull, int ranks) {
  const double n = static_cast<double>(ranks) * particles_per_rank;
  bool right = true;
  for (int i = 0; i < particles_per_rank; ++i) right = right && pull(i) == n * (n - 1) / 2 - n * places(i);
  return right;
}
