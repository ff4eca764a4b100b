// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"

#include <algorithm>

namespace kontor::grid {

/// Local. The own cells, and so many layers beyond them where the whole grid goes on.
inline Box with_margin(const Block& block, int layers) {
  auto box = block.all();
  for (int axis = 0; axis < block.dimensions; ++axis) {
    if (!block.at_boundary(2 * axis)) box.begin[axis] -= layers;
    if (!block.at_boundary(2 * axis + 1)) box.end[axis] += layers;
  }
  return box;
}

/// A block in two parts: what needs no ghosts of messages and can be computed while they travel, and the strips along
/// faces that do.
struct Regions {
  Box interior;
  std::array<Box, face_count> strips; ///< some empty

  bool any_strips() const {
    return !std::all_of(strips.begin(), strips.end(), [](const Box& box) { return box.empty(); });
  }
};

/// Local. Strips are as thick as there are ghosts; those at the ends of the fastest axis have at least `per_line` cells
/// or points, those of a cache line, so that the interior keeps whole lines.
inline Regions split(const Block& block, std::int64_t per_line) {
  Regions regions{block.all(), {}};
  auto& rest = regions.interior;
  for (int axis = 2; axis >= 0; --axis) {
    const auto thickness = std::max<std::int64_t>(block.ghosts, axis == 0 ? per_line : 1);
    if (block.neighbours[2 * axis] != comm::no_rank) {
      auto& strip = regions.strips[2 * axis] = rest;
      strip.end[axis] = rest.begin[axis] = std::min(rest.begin[axis] + thickness, rest.end[axis]);
    }
    if (block.neighbours[2 * axis + 1] != comm::no_rank) {
      auto& strip = regions.strips[2 * axis + 1] = rest;
      strip.begin[axis] = rest.end[axis] = std::max(rest.end[axis] - thickness, rest.begin[axis]);
    }
  }
  return regions;
}

} // namespace kontor::grid
