// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"

/// Particles give their values to the cells that they are in: by atomic updates, and by a ScatterView.
namespace kontor::kernels {

using Positions = Kokkos::View<double* [3]>; ///< in the unit cube

template <class T>
void measure_updates(Bench& bench, const std::string& scalar, const Positions& at) {
  const auto n = static_cast<std::int64_t>(at.extent(0)), cells = bench.options.cells;
  const auto value = [](auto p, auto, auto) { return T(static_cast<int>(1 + p % 5)); }; // sums are exact in any order
  const auto values = filled(Kokkos::View<T*>("kernels/values", n), value);
  const Kokkos::View<T***> grid("kernels/grid", cells, cells, cells);
  const auto exact = Kokkos::create_mirror(grid);
  const auto positions = on_host(at);
  for (std::int64_t p = 0; p < n; ++p) {
    const auto cell = [&](int axis) { return static_cast<int>(positions(p, axis) * cells); };
    exact(cell(0), cell(1), cell(2)) += value(p, 0, 0);
  }
  const auto scatter = Kokkos::Experimental::create_scatter_view(grid);
  const auto atomic = kernel(
      "kernels/deposit", Range(0, n), KOKKOS_LAMBDA(const std::int64_t p) {
        const auto cell = [&](int axis) { return static_cast<int>(at(p, axis) * cells); };
        Kokkos::atomic_add(&grid(cell(0), cell(1), cell(2)), values(p));
      });
  const auto scattered = kernel(
      "kernels/deposit by ScatterView", Range(0, n), KOKKOS_LAMBDA(const std::int64_t p) {
        const auto cell = [&](int axis) { return static_cast<int>(at(p, axis) * cells); };
        scatter.access()(cell(0), cell(1), cell(2)) += values(p);
      });
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
