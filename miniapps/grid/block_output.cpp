// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/block_output.hpp"

namespace kontor::grid {

output::Block block_in_file(const Block& block) {
  output::Block part;
  for (int axis = block.dimensions - 1; axis >= 0; --axis) {
    part.global.push_back(static_cast<std::uint64_t>(block.global[axis]));
    part.offset.push_back(static_cast<std::uint64_t>(block.offset[axis]));
    part.extent.push_back(static_cast<std::uint64_t>(block.extents[axis]));
  }
  return part;
}

output::Image image_of(const Block& block) {
  output::Image image{.dimensions = block.dimensions};
  for (int axis = 0; axis < block.dimensions; ++axis) {
    const auto cells = block.global[axis] - (block.centering == Centering::points ? 1 : 0);
    image.cells[axis] = static_cast<std::uint64_t>(cells);
    image.origin[axis] = block.lower[axis];
    image.spacing[axis] = block.spacing[axis];
  }
  return image;
}

} // namespace kontor::grid
