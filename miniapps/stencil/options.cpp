// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stencil/options.hpp"

#include "grid/make_field.hpp"
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
    return bytes_of_rank(block);
  };
  grid::resolve_box_sizes(sizing, {"problem.cells", "cell", cells, process_grid, 0, bytes}, ranks, deck, free_memory);
}

void Options::resolve_process_grid(const config::Deck& deck, int ranks) {
  grid::resolve_process_grid(process_grid, "decomposition.process_grid", {"problem.cells", "cell", cells}, ranks, deck);
}

double bytes_of_rank(const grid::Block& block) { return 2 * grid::field_bytes<double>(block); }

} // namespace kontor::stencil
