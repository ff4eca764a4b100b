// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/process_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <limits>
#include <numeric>

namespace kontor::grid {
namespace {

/// The surface of all cuts, relative to the whole: each cut across an axis costs the area of the plane it cuts, so
/// (parts - 1) / extent of the axis.
double cut_surface(const std::vector<int>& grid, std::span<const std::int64_t> extents) {
  double surface = 0;
  for (std::size_t d = 0; d < grid.size(); ++d)
    surface += static_cast<double>(grid[d] - 1) / static_cast<double>(extents[d]);
  return surface;
}

/// Calls visit(grid) for every way to write `ranks` as a product over the axes; the first axis, x, takes the smallest
/// factors first.
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

/// Whether an axis can be cut into so many parts.
bool can_cut(std::int64_t extent, std::int64_t parts, std::int64_t least) {
  return parts == 1 || extent / parts >= least;
}

} // namespace

std::vector<int> smallest_surface_grid(int ranks, std::span<const std::int64_t> extents, std::int64_t least) {
  std::vector<int> best;
  double best_surface = std::numeric_limits<double>::max();
  std::vector<int> grid(extents.size());
  each_grid(ranks, 0, grid, [&](const std::vector<int>& candidate) {
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (!can_cut(extents[d], candidate[d], least)) return;
    const double surface = cut_surface(candidate, extents);
    if (surface < best_surface) {
      best = candidate;
      best_surface = surface;
    }
  });
  return best;
}

void resolve_process_grid(std::vector<std::int64_t>& process_grid, std::string_view key, const DividedBox& box,
                          int ranks, const config::Deck& deck) {
  const auto need = box.least == 1 ? fmt::format("one {}", box.unit)
                                   : fmt::format("{} {}s along each axis that is cut", box.least, box.unit);
  if (process_grid.empty()) {
    const auto grid = smallest_surface_grid(ranks, box.extents, box.least);
    if (grid.empty())
      deck.fail(box.key,
                fmt::format("[{}] cannot be divided among {} ranks so that each has {}; use fewer "
                            "ranks or more {}s",
                            fmt::join(box.extents, ", "), ranks, need, box.unit),
                "E-DECK-RANKS");
    process_grid.assign(grid.begin(), grid.end());
    return;
  }
  if (process_grid.size() != box.extents.size())
    deck.fail(key, fmt::format("has length {}; that of {} is {}", process_grid.size(), box.key, box.extents.size()));
  const auto product = std::accumulate(process_grid.begin(), process_grid.end(), std::int64_t{1}, std::multiplies<>());
  if (product != ranks)
    deck.fail(key, fmt::format("[{}] is for {} ranks, but there are {}", fmt::join(process_grid, ", "), product, ranks),
              "E-DECK-RANKS");
  for (std::size_t d = 0; d < box.extents.size(); ++d)
    if (!can_cut(box.extents[d], process_grid[d], box.least))
      deck.fail(key,
                fmt::format("[{}] cuts an axis of {} {}s into {} parts{}; use fewer ranks or more {}s",
                            fmt::join(process_grid, ", "), box.extents[d], box.unit, process_grid[d],
                            box.least == 1 ? "" : fmt::format(", and each needs {}", box.least), box.unit),
                "E-DECK-RANKS");
}

comm::Communicator make_cartesian(const comm::Communicator& comm, const std::vector<std::int64_t>& process_grid,
                                  const std::vector<bool>& periodic) {
  return {comm, std::vector<int>(process_grid.rbegin(), process_grid.rend()),
          std::vector<bool>(periodic.rbegin(), periodic.rend())};
}

} // namespace kontor::grid
