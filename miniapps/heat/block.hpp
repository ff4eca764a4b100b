// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/decomposition.hpp"
#include "heat/options.hpp"

#include <kontor/comm/communicator.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace kontor::heat {

using Index3 = Kokkos::Array<std::int64_t, 3>; ///< x, y, z

/// A half-open box of cells, in indices of a rank's block (0 is its first own cell).
struct Box {
  Index3 begin{};
  Index3 end{};

  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
};

/// One rank's part of the grid. A 2-D grid is one cell deep along z, without neighbours there.
struct Block {
  int dimensions = 3;
  Index3 global{1, 1, 1}; ///< cells of the whole grid
  Index3 offset{};        ///< global index of the first own cell
  Index3 cells{1, 1, 1};  ///< own cells
  std::array<double, 3> lower{};
  std::array<double, 3> spacing{1, 1, 1};
  /// The other rank behind each face (x_min, x_max, y_min, ...), or no_rank.
  std::array<int, 6> neighbours{comm::no_rank, comm::no_rank, comm::no_rank,
                                comm::no_rank, comm::no_rank, comm::no_rank};

  /// Periodic axes that are not cut: the block is its own neighbour, and a copy is all the exchange it needs.
  std::array<bool, 3> wraps{};

  /// Whether a face is part of the domain's boundary.
  bool at_boundary(int face) const {
    return face < 2 * dimensions && neighbours[face] == comm::no_rank && !wraps[face / 2];
  }

  /// Coordinate of a cell's centre; the same number on every rank for the same cell.
  double centre(int axis, std::int64_t own_index) const {
    return lower[axis] + (static_cast<double>(offset[axis] + own_index) + 0.5) * spacing[axis];
  }
  /// Coordinate of a cell's lower face.
  double face(int axis, std::int64_t own_index) const {
    return lower[axis] + static_cast<double>(offset[axis] + own_index) * spacing[axis];
  }

  Box all() const { return {{}, cells}; }
};

/// Local. `cartesian` has the process grid in the order z, y, x, so that ranks that are neighbours along the
/// fastest axis have neighbouring numbers.
inline Block make_block(const Options& options, const comm::Communicator& cartesian) {
  Block block;
  block.dimensions = options.dimensions();
  for (int axis = 0; axis < block.dimensions; ++axis) {
    const int dim = block.dimensions - 1 - axis;
    const auto range =
        miniapp::block_range(options.cells[axis], cartesian.dims()[dim], cartesian.coordinates()[dim]);
    block.global[axis] = options.cells[axis];
    block.offset[axis] = range.begin;
    block.cells[axis] = range.size();
    block.lower[axis] = options.lower[axis];
    block.spacing[axis] = options.spacing(axis);
    const int lower = cartesian.neighbour(dim, -1);
    const int upper = cartesian.neighbour(dim, +1);
    block.wraps[axis] = lower == cartesian.rank();
    if (!block.wraps[axis]) {
      block.neighbours[2 * axis] = lower;
      block.neighbours[2 * axis + 1] = upper;
    }
  }
  return block;
}

/// The cells that need no ghost cell of another rank, and the strips that do. Strips at the ends of the
/// fastest axis are a cache line thick, so that the interior keeps whole lines.
struct Regions {
  Box interior;
  std::array<Box, 6> strips; ///< some empty

  bool any_strips() const {
    return !std::all_of(strips.begin(), strips.end(), [](const Box& box) { return box.empty(); });
  }
};

inline Regions split(const Block& block, std::int64_t cells_per_line) {
  Regions regions{block.all(), {}};
  auto& rest = regions.interior;
  for (int axis = 2; axis >= 0; --axis) {
    const std::int64_t thickness = axis == 0 ? cells_per_line : 1;
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

} // namespace kontor::heat
