// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/layers.hpp"

#include <cstdlib>

namespace kontor::grid {

std::vector<Direction> across_faces(int dimensions) {
  std::vector<Direction> directions;
  for (int axis = 0; axis < dimensions; ++axis)
    for (const int side : {1, 0}) directions.push_back(across(2 * axis + side));
  return directions;
}

std::vector<Direction> across_all(int dimensions) {
  auto directions = across_faces(dimensions);
  const int y = dimensions > 1 ? 1 : 0;
  const int z = dimensions > 2 ? 1 : 0;
  for (int dz = -z; dz <= z; ++dz)
    for (int dy = -y; dy <= y; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (std::abs(dx) + std::abs(dy) + std::abs(dz) > 1) directions.push_back({dx, dy, dz});
  return directions;
}

Box own_layer(const Block& block, const Direction& direction) {
  Box box = block.all();
  for (int axis = 0; axis < 3; ++axis) {
    if (direction[axis] < 0) box.end[axis] = block.ghosts;
    if (direction[axis] > 0) box.begin[axis] = block.extents[axis] - block.ghosts;
  }
  return box;
}

Box ghost_layer(const Block& block, const Direction& direction) {
  Box box = block.all();
  for (int axis = 0; axis < 3; ++axis) {
    if (direction[axis] == 0) continue;
    box.begin[axis] = direction[axis] < 0 ? -block.ghosts : block.extents[axis];
    box.end[axis] = box.begin[axis] + block.ghosts;
  }
  return box;
}

} // namespace kontor::grid
