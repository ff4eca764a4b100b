// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/atomics.hpp"

namespace kontor::kernels {
namespace {

template <class T>
void updates_of(Bench& bench, const std::string& scalar, const Positions& at) {
  const auto n = static_cast<std::int64_t>(at.extent(0)), cells = bench.options.cells;
  const auto value = [](auto p, auto, auto) { return T(static_cast<int>(1 + p % 5)); }; // sums are exact in any order
  const auto values = filled(Kokkos::View<T*>("kernels/values", n), value);
  const Kokkos::View<T***> grid("kernels/grid", cells, cells, cells);
  const auto error = [=, positions = on_host(at)] {
    std::vector<T> exact(grid.size());
    const auto place = [=](auto i, auto j, auto k) { return static_cast<std::size_t>((i * cells + j) * cells + k); };
    const auto cell = [&](auto p, int axis) { return static_cast<std::int64_t>(positions(p, axis) * cells); };
    for (std::int64_t p = 0; p < n; ++p) exact[place(cell(p, 0), cell(p, 1), cell(p, 2))] += value(p, 0, 0);
    return largest_error(grid, [&](auto i, auto j, auto k) { return exact[place(i, j, k)]; });
  };
  const auto scatter = Kokkos::Experimental::create_scatter_view(grid);
  const Way ways[] = {way("atomic", [=] { deposit_atomically(at, values, grid); }),
                      way("scatter_view", [=] { deposit_by_scatter_view(at, values, grid, scatter); })};
  const auto updates = static_cast<double>(n);
  bench.time({scalar, n, updates, {updates * (24 + sizeof(T)), 0}, {{scalar + "_updates", updates, "1/s"}}}, ways,
             {[=] { Kokkos::deep_copy(grid, T(0)); }, error});
}

} // namespace

void measure_atomics(Bench& bench, std::int64_t n) {
  const auto at = filled(Positions("kernels/positions", n),
                         [](auto p, auto axis, auto) { return (1 + random_number(p, axis)) / 2; });
  updates_of<int>(bench, "int", at);
  updates_of<double>(bench, "double", at);
  updates_of<Kokkos::complex<double>>(bench, "complex", at);
}

} // namespace kontor::kernels
