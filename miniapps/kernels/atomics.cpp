// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"

/// Particles give their values to the cells that they are in: by atomic updates, and by a ScatterView.
namespace kontor::kernels {

using Positions = Kokkos::View<double* [3]>; ///< in the unit cube

/// The cell in which a particle is, in a grid of so many along each axis.
template <class Grid, class At>
KOKKOS_INLINE_FUNCTION decltype(auto) cell_of(std::int64_t particle, const At& at, const Grid& grid,
                                              std::int64_t cells) {
  const auto index = [&](int axis) { return static_cast<int>(at(particle, axis) * cells); };
  return grid(index(0), index(1), index(2));
}

template <class T>
void measure_updates(Bench& bench, const std::string& scalar, const Positions& at) {
  const auto n = static_cast<std::int64_t>(at.extent(0)), cells = bench.options.cells;
  const auto value = [](auto p, auto, auto) { return T(static_cast<int>(1 + p % 5)); }; // sums are exact in any order
  const auto values = filled(Kokkos::View<T*>("kernels/values", n), value);
  const Kokkos::View<T***> grid("kernels/grid", cells, cells, cells);
  const auto exact = Kokkos::create_mirror(grid);
  const auto positions = on_host(at);
  for (std::int64_t p = 0; p < n; ++p) cell_of(p, positions, exact, cells) += value(p, 0, 0);
  const auto scatter = Kokkos::Experimental::create_scatter_view(grid);
  const auto atomic = kernel(
      "kernels/deposit", Range(0, n),
      KOKKOS_LAMBDA(const std::int64_t p) { Kokkos::atomic_add(&cell_of(p, at, grid, cells), values(p)); });
  const auto scattered = kernel(
      "kernels/deposit by ScatterView", Range(0, n),
      KOKKOS_LAMBDA(const std::int64_t p) { cell_of(p, at, scatter.access(), cells) += values(p); });
  const Way ways[] = {way("atomic", atomic), scatter_way(grid, scatter, scattered)};
  const auto updates = static_cast<double>(n);
  bench.time({scalar, n, updates, {updates * (24 + sizeof(T)), 0}, {{scalar + "_updates", updates, "1/s"}}}, ways,
             becomes(grid, 0, exact));
}

void measure_atomics(Bench& bench, std::int64_t n) {
  const auto at = filled(Positions("kernels/positions", n),
                         [](auto p, auto axis, auto) { return (1 + random_number(p, axis)) / 2; });
  measure_updates<int>(bench, "int", at);
  measure_updates<double>(bench, "double", at);
  measure_updates<Kokkos::complex<double>>(bench, "complex", at);
}

} // namespace kontor::kernels
