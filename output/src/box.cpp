// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "box.hpp"

#include <functional>
#include <numeric>

namespace kontor::output {

std::uint64_t elements(const Extents& extent) {
  return std::accumulate(extent.begin(), extent.end(), std::uint64_t{1}, std::multiplies<>());
}

std::uint64_t elements_before(const Extents& extent, const Box& slab) {
  return slab.offset[0] * (elements(extent) / extent[0]);
}

Box in_array(const Block& block, const Box& box) {
  Box result = box;
  for (std::size_t d = 0; d < result.offset.size(); ++d) result.offset[d] += block.offset[d];
  return result;
}

std::uint64_t run_length(const Box& box, const Extents& array) {
  std::size_t axis = box.extent.size() - 1;
  std::uint64_t count = box.extent[axis];
  while (axis > 0 && box.extent[axis] == array[axis]) count *= box.extent[--axis];
  return elements(box.extent) == 0 ? 0 : count;
}

} // namespace kontor::output
