// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/bench.hpp"

#include <Kokkos_ScatterView.hpp>

/// Particles give their values to the cells that they are in.
namespace kontor::kernels {

using Positions = Kokkos::View<double* [3]>; ///< in the unit cube

/// Cells that several particles are in are updated one after the other.
template <class Values, class Grid>
void deposit_atomically(const Positions& at, const Values& values, const Grid& grid) {
  const auto cells = static_cast<double>(grid.extent(0));
  Kokkos::parallel_for(
      "kernels/deposit", Range(0, at.extent(0)), KOKKOS_LAMBDA(const std::int64_t p) {
        const auto cell = [&](int axis) { return static_cast<int>(at(p, axis) * cells); };
        Kokkos::atomic_add(&grid(cell(0), cell(1), cell(2)), values(p));
      });
}

/// A ScatterView chooses: a copy of the grid for each thread, or atomic updates.
template <class Values, class Grid, class Scatter>
void deposit_by_scatter_view(const Positions& at, const Values& values, Grid grid, Scatter scatter) {
  const auto cells = static_cast<double>(grid.extent(0));
  scatter.reset_except(grid);
  Kokkos::parallel_for(
      "kernels/deposit by ScatterView", Range(0, at.extent(0)), KOKKOS_LAMBDA(const std::int64_t p) {
        const auto cell = [&](int axis) { return static_cast<int>(at(p, axis) * cells); };
        auto access = scatter.access();
        access(cell(0), cell(1), cell(2)) += values(p);
      });
  Kokkos::Experimental::contribute(grid, scatter);
}

} // namespace kontor::kernels
