// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/block.hpp"

#include "grid/process_grid.hpp"

namespace kontor::grid {

Block make_block(const UniformGrid& grid, const comm::Communicator& cartesian, int ghosts) {
  Block block;
  block.dimensions = grid.dimensions();
  block.centering = grid.centering;
  block.ghosts = ghosts;
  for (int axis = 0; axis < block.dimensions; ++axis) {
    const int dim = block.dimensions - 1 - axis;
    const auto range = part_of_axis(grid.extents[axis], cartesian.dims()[dim], cartesian.coordinates()[dim]);
    block.global[axis] = grid.extents[axis];
    block.offset[axis] = range.begin;
    block.extents[axis] = range.size();
    if (!grid.lower.empty()) block.lower[axis] = grid.lower[axis];
    if (!grid.spacing.empty()) block.spacing[axis] = grid.spacing[axis];
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

} // namespace kontor::grid
