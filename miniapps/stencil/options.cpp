// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stencil/options.hpp"

#include "grid/field.hpp"
#include "grid/process_grid.hpp"
#include "grid/sizing.hpp"

namespace kontor::stencil {

void Options::describe_cells(config::Visitor& v) {
  v.value("cells", cells, "Cells along the axes", {1, grid::most_along_axis}, {cells.size(), cells.size()});
  sizing.describe(v, "cells");
}

void Options::describe_steps(config::Visitor& v) {
  v.value("steps", steps, "Steps of a repeat", {.min = 1});
  v.choice<stepping::Launch>("launch", launch, stepping::launch_names,
                             "On a GPU, each step by its own launches, many by one (graph), or by trial");
}

void Options::describe_decomposition(config::Visitor& v) {
  v.section("decomposition", "How the cells are divided among the ranks", [&](config::Visitor& d) {
    d.value("process_grid", process_grid, "Ranks along the axes; empty: the smallest halo", {1, std::int64_t{1} << 30},
            {0, cells.size()});
  });
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  const auto bytes = [](const grid::Sizes& whole, const std::vector<std::int64_t>& along) {
    const auto block = grid::largest_block({.extents = whole, .lower = {}, .spacing = {}}, along);
    return miniapp::total_bytes(views_of_rank(block));
  };
  grid::resolve_box_sizes(sizing, {"problem.cells", "cell", cells, process_grid, 0, bytes}, ranks, deck, free_memory);
}

void Options::resolve_process_grid(const config::Deck& deck, int ranks) {
  grid::resolve_process_grid(process_grid, "decomposition.process_grid", {"problem.cells", "cell", cells}, ranks, deck);
}

std::vector<miniapp::Allocation> views_of_rank(const grid::Block& block) {
  const auto extents = grid::field_extents<double>(block);
  const double bytes = sizeof(double) * static_cast<double>(extents[0]) * static_cast<double>(extents[1]) *
                       static_cast<double>(extents[2]);
  return {{"first field", bytes}, {"second field", bytes}};
}

} // namespace kontor::stencil
