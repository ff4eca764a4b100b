// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/block.hpp"

#include "grid/axis_parts.hpp"

#include <utility>

namespace kontor::grid {
namespace {

/// The part at these coordinates of a process grid, both in the order of Cartesian communicators.
Block part_at(const UniformGrid& grid, const std::vector<int>& dims, const std::vector<int>& coordinates, int ghosts) {
  Block block;
  block.dimensions = grid.dimensions();
  block.centering = grid.centering;
  block.ghosts = ghosts;
  for (int axis = 0; axis < block.dimensions; ++axis) {
    const int dim = block.dimensions - 1 - axis;
    const auto range = part_of_axis(grid.extents[axis], dims[dim], coordinates[dim]);
    block.global[axis] = grid.extents[axis];
    block.offset[axis] = range.begin;
    block.extents[axis] = range.size();
    if (!grid.lower.empty()) block.lower[axis] = grid.lower[axis];
    if (!grid.spacing.empty()) block.spacing[axis] = grid.spacing[axis];
  }
  return block;
}

} // namespace

Block make_block(const UniformGrid& grid, const comm::Communicator& cartesian, int ghosts, Wrapping wrapping) {
  auto block = part_at(grid, cartesian.dims(), cartesian.coordinates(), ghosts);
  for (int axis = 0; axis < block.dimensions; ++axis) {
    const int dim = block.dimensions - 1 - axis;
    const int lower = cartesian.neighbour(dim, -1);
    const int upper = cartesian.neighbour(dim, +1);
    block.wraps[axis] = lower == cartesian.rank() && wrapping == Wrapping::by_kernel;
    if (!block.wraps[axis]) {
      block.neighbours[2 * axis] = lower;
      block.neighbours[2 * axis + 1] = upper;
    }
  }
  return block;
}

Block wrapped_by_messages(Block block, int rank) {
  for (int axis = 0; axis < block.dimensions; ++axis)
    if (std::exchange(block.wraps[axis], false)) block.neighbours[2 * axis] = block.neighbours[2 * axis + 1] = rank;
  return block;
}

Block largest_block(const UniformGrid& grid, const std::vector<std::int64_t>& process_grid, int ghosts) {
  const std::vector<int> dims(process_grid.rbegin(), process_grid.rend());
  return part_at(grid, dims, std::vector<int>(dims.size()), ghosts);
}

} // namespace kontor::grid
