// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/decomposition.hpp"

#include <algorithm>
#include <limits>

namespace kontor::miniapp {
namespace {

/// Cells on both sides of all cuts, relative to the whole: each cut across an axis costs the area of the
/// plane it cuts, so (parts - 1) / cells of the axis.
double cut_surface(const std::vector<int>& grid, std::span<const std::int64_t> cells) {
  double surface = 0;
  for (std::size_t d = 0; d < grid.size(); ++d)
    surface += static_cast<double>(grid[d] - 1) / static_cast<double>(cells[d]);
  return surface;
}

/// Calls visit(grid) for every way to write `ranks` as a product over the axes; the first axis, x, takes the
/// smallest factors first.
template <class Visit>
void each_grid(int ranks, std::size_t axis, std::vector<int>& grid, const Visit& visit) {
  if (axis + 1 == grid.size()) {
    grid[axis] = ranks;
    visit(grid);
    return;
  }
  for (int parts = 1; parts <= ranks; ++parts) {
    if (ranks % parts != 0) continue;
    grid[axis] = parts;
    each_grid(ranks / parts, axis + 1, grid, visit);
  }
}

} // namespace

BlockRange block_range(std::int64_t cells, int parts, int index) {
  const auto size = cells / parts;
  const auto larger = cells % parts;
  const auto begin = index * size + std::min<std::int64_t>(index, larger);
  return {begin, begin + size + (index < larger ? 1 : 0)};
}

std::vector<int> smallest_surface_grid(int ranks, std::span<const std::int64_t> cells) {
  std::vector<int> best;
  double best_surface = std::numeric_limits<double>::max();
  std::vector<int> grid(cells.size());
  each_grid(ranks, 0, grid, [&](const std::vector<int>& candidate) {
    for (std::size_t d = 0; d < cells.size(); ++d)
      if (candidate[d] > cells[d]) return;
    const double surface = cut_surface(candidate, cells);
    if (surface < best_surface) {
      best = candidate;
      best_surface = surface;
    }
  });
  return best;
}

} // namespace kontor::miniapp
