// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <numbers>

/// A periodic field of cells, averaged with their four neighbours in each step: a standing wave decays by a known
/// factor. Each rank has a block of it, with one row or column of ghost cells on each side.
using Field = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

inline constexpr int cells = 32; // of a block, in each direction
inline constexpr int steps = 20;

struct Wave {
  std::array<int, 2> grid;  ///< ranks in each direction
  std::array<int, 2> place; ///< this rank's in it

  double angle(int dim, int i) const {
    return 2 * std::numbers::pi * (place[dim] * cells + i - 1) / (grid[dim] * cells);
  }
  double decay() const {
    return (std::cos(2 * std::numbers::pi / (grid[0] * cells)) + std::cos(2 * std::numbers::pi / (grid[1] * cells))) /
           2;
  }
  /// The cells, ghosts left out, after a number of steps.
  double exact(int i, int j, int step) const {
    return std::pow(decay(), step) * std::cos(angle(0, i)) * std::cos(angle(1, j));
  }
};

inline void begin(const Wave& wave, const Field& u) {
  for (int i = 1; i <= cells; ++i)
    for (int j = 1; j <= cells; ++j) u(i, j) = wave.exact(i, j, 0);
}

inline void average(const Field& u, const Field& next) {
  for (int i = 1; i <= cells; ++i)
    for (int j = 1; j <= cells; ++j) next(i, j) = (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) / 4;
  Kokkos::deep_copy(u, next);
}

struct Sums {
  double squares = 0;
  double error = 0;
};

inline Sums sums(const Wave& wave, const Field& u) {
  Sums sums;
  for (int i = 1; i <= cells; ++i)
    for (int j = 1; j <= cells; ++j) {
      sums.squares += u(i, j) * u(i, j);
      sums.error += std::abs(u(i, j) - wave.exact(i, j, steps));
    }
  return sums;
}
