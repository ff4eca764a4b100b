// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"

/// The outermost layers of a block, which its neighbours have as ghosts.
namespace kontor::grid {

/// From a block to one beside it: -1, 0 or 1 along x, y and z. One of them that is not 0 leads across a face, two
/// across an edge, three across a corner.
using Direction = std::array<int, 3>;

/// Across that face.
inline Direction across(int face) {
  Direction direction{};
  direction[face / 2] = face % 2 == 0 ? -1 : 1;
  return direction;
}

inline Direction opposite(const Direction& d) { return {-d[0], -d[1], -d[2]}; }

/// Across all faces: what stencils along the axes read, such as those of 5 and 7 points.
std::vector<Direction> across_faces(int dimensions);
/// Across faces, edges and corners: what stencils of 9 and 27 points read.
std::vector<Direction> across_all(int dimensions);

/// Local. The outermost own layers in that direction, as many as there are ghosts.
Box own_layer(const Block&, const Direction&);
/// Local. The ghosts in that direction.
Box ghost_layer(const Block&, const Direction&);

} // namespace kontor::grid
