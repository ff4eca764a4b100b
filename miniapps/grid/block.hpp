// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace kontor::grid {

using Index3 = Kokkos::Array<std::int64_t, 3>; ///< x, y, z

/// A half-open box of cells or points, in indices of a rank's block: 0 is its first own one, ghosts before it have
/// negative indices.
struct Box {
  Index3 begin{};
  Index3 end{};

  std::int64_t extent(int axis) const { return end[axis] - begin[axis]; }
  bool empty() const { return extent(0) <= 0 || extent(1) <= 0 || extent(2) <= 0; }
  /// How many cells or points it has.
  std::int64_t size() const { return empty() ? 0 : extent(0) * extent(1) * extent(2); }
};

// What one rank has of a uniform grid in a box of 1 to 3 dimensions.

/// Where a grid's values stand: in the middles of its cells, or at its points.
enum class Centering { cells, points };

/// The whole grid. Axes in the order x, y[, z].
struct UniformGrid {
  Centering centering = Centering::cells;
  std::vector<std::int64_t> extents; ///< cells or points
  std::vector<double> lower;         ///< corner of the box; empty: the origin
  std::vector<double> spacing;       ///< empty: ones

  int dimensions() const { return static_cast<int>(extents.size()); }
};

/// The face 2 * axis is the lower end of an axis, 2 * axis + 1 the upper one: x_min, x_max, y_min, ...
inline constexpr int face_count = 6;

/// A rank's part of the grid. Axes beyond the grid's dimensions are one cell or point deep and have no neighbours.
struct Block {
  int dimensions = 3;
  Centering centering = Centering::cells;
  Index3 global{1, 1, 1};  ///< extents of the whole grid
  Index3 offset{};         ///< global index of the first own cell or point
  Index3 extents{1, 1, 1}; ///< own cells or points
  int ghosts = 1;          ///< layers of ghosts that fields have around them
  std::array<double, 3> lower{};
  std::array<double, 3> spacing{1, 1, 1};
  /// The rank behind each face, from which messages fill its ghosts; no_rank: none.
  std::array<int, face_count> neighbours{comm::no_rank, comm::no_rank, comm::no_rank,
                                         comm::no_rank, comm::no_rank, comm::no_rank};
  /// Periodic axes that are not cut, and whose ghosts wrap() fills.
  std::array<bool, 3> wraps{};

  /// Whether a face is part of the boundary of the whole grid.
  bool at_boundary(int face) const {
    return face < 2 * dimensions && neighbours[face] == comm::no_rank && !wraps[face / 2];
  }

  /// Coordinate of a cell's centre, or of a point; 0 along an axis that there is not. The same number on every rank for
  /// the same cell or point.
  double coordinate(int axis, std::int64_t own_index) const {
    if (axis >= dimensions) return 0;
    const double middle = centering == Centering::cells ? 0.5 : 0.0;
    return lower[axis] + (static_cast<double>(offset[axis] + own_index) + middle) * spacing[axis];
  }
  /// Coordinate of a cell's lower face.
  double face(int axis, std::int64_t own_index) const {
    return lower[axis] + static_cast<double>(offset[axis] + own_index) * spacing[axis];
  }

  /// The own cells or points.
  Box all() const { return {{}, extents}; }
};

/// How ghosts are filled along periodic axes that are not cut: by messages of a rank to itself, or by wrap(), which
/// must come before all that reads ghosts. Slots of halos, regions and wrap() follow from what the block says.
enum class Wrapping { by_messages, by_kernel };

/// Local. The rank's part; `cartesian` is of make_cartesian(), and its process grid has the grid's dimensions.
Block make_block(const UniformGrid&, const comm::Communicator& cartesian, int ghosts = 1,
                 Wrapping = Wrapping::by_messages);

/// Local. The same block with ghosts that messages of `rank`, this one, fill.
Block wrapped_by_messages(Block, int rank);

/// Local. The largest part, which the first rank has, for estimates: it has no neighbours.
Block largest_block(const UniformGrid&, const std::vector<std::int64_t>& process_grid, int ghosts = 1);

} // namespace kontor::grid
