// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/problem/volume.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kontor::matmul {

double grid_lower_bound(const ProductSize& size, const GridShape& grid) {
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n), k = static_cast<double>(size.k);
  const double rows = grid.rows, columns = grid.columns, layers = grid.layers;
  // The first layer has 1/columns of its rows of A, and needs 1/layers of them; the others have nothing.
  const double of_a = std::max(0.0, columns / layers - 1) + (layers - 1) * columns / layers;
  const double of_b = std::max(0.0, rows / layers - 1) + (layers - 1) * rows / layers;
  return m * k * of_a + k * n * of_b + (layers - 1) * m * n;
}

double lower_bound(const ProductSize& size, int ranks) {
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n), k = static_cast<double>(size.k);
  const double all = ranks;
  // One, two or three dimensions are cut, by how the sizes compare (Al Daas et al., theorem 3).
  double dims[3] = {m, n, k};
  std::ranges::sort(dims, std::ranges::greater());
  const double large = dims[0], middle = dims[1], small = dims[2];
  double needed = 0; // of the three matrices, by a rank
  if (all <= large / middle)
    needed = (large * middle + large * small) / all + middle * small;
  else if (all <= large * middle / (small * small))
    needed = 2 * std::sqrt(large * middle * small * small / all) + large * middle / all;
  else
    needed = 3 * std::pow(large * middle * small / all, 2.0 / 3.0);
  const double has = (m * k + k * n + m * n) / all;
  return all * std::max(0.0, needed - has);
}

std::vector<std::int64_t> least_volume_grid(const ProductSize& size, int ranks) {
  std::vector<std::int64_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows != 0) continue;
    const double volume = grid_lower_bound(size, {1, rows, ranks / rows});
    if (volume < least) {
      least = volume;
      best = {rows, ranks / rows};
    }
  }
  return best;
}

} // namespace kontor::matmul
