// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/sums/accumulator.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace kontor::sums::detail {

/// What the teams of a kernel add up: as doubles, without an error.
struct LevelSums {
  double sum[levels] = {};

  KOKKOS_INLINE_FUNCTION LevelSums& operator+=(const LevelSums& other) {
    for (int n = 0; n < levels; ++n) sum[n] += other.sum[n];
    return *this;
  }
};

} // namespace kontor::sums::detail

namespace Kokkos {
template <>
struct reduction_identity<kontor::sums::detail::LevelSums> { // NOLINT: Kokkos wants it so
  KOKKOS_FORCEINLINE_FUNCTION static kontor::sums::detail::LevelSums sum() { return {}; }
};
} // namespace Kokkos

namespace kontor::sums::detail {

/// Values of a thread of a device that are added at a time.
inline constexpr int tile_depth = 8;

/// By all threads of a team. Adds tile_depth values of each, which are spoiled, to an accumulator that other teams add
/// to as well: all level by level until nothing is left. Most values take one turn.
template <class Member>
KOKKOS_INLINE_FUNCTION void add_tile(const Member& team, double* values, std::int64_t* accumulator) {
  const auto add = [=](int place, std::int64_t number) { Kokkos::atomic_add(&accumulator[place], number); };
  for (int v = 0; v < tile_depth; ++v)
    if (exponent_of(values[v]) == 0x7ff) {
      split(values[v], 0, add);
      values[v] = 0;
    }
  while (true) {
    int exponent = -1;
    for (int v = 0; v < tile_depth; ++v) {
      const int e = exponent_of(values[v]);
      if (values[v] != 0 && e > exponent) exponent = e;
    }
    team.team_reduce(Kokkos::Max<int>(exponent));
    if (exponent < 0) return;
    LevelSums sums;
    const bool scaled = exponent > largest_exponent;
    const int scale = scaled ? scaled_by : 0;
    if (scaled) {
      const Level first = level(exponent - scale, 0);
      for (int v = 0; v < tile_depth; ++v) sums.sum[0] += take_multiple(first, values[v]);
    } else {
      for (int n = 0; n < levels; ++n) {
        const Level of = level(exponent, n);
        for (int v = 0; v < tile_depth; ++v) {
          const double multiple = of.multiple(values[v]);
          sums.sum[n] += multiple;
          values[v] -= multiple;
        }
      }
    }
    team.team_reduce(Kokkos::Sum<LevelSums>(sums));
    if (team.team_rank() == 0)
      for (int n = 0; n < levels; ++n) split(sums.sum[n], scale, add);
  }
}

} // namespace kontor::sums::detail
