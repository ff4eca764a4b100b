// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/halo.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace kontor::grid {
namespace {

/// The rank whose block lies in that direction, or no_rank.
int rank_in(const comm::Communicator& cartesian, const Direction& direction) {
  auto coordinates = cartesian.coordinates();
  const auto dimensions = coordinates.size();
  for (std::size_t dim = 0; dim < dimensions; ++dim) coordinates[dim] += direction[dimensions - 1 - dim];
  return cartesian.rank_at(coordinates);
}

/// By the smallest block, which all ranks know.
void refuse_thin_blocks(const comm::Communicator& cartesian, const Block& block,
                        const std::vector<Direction>& directions) {
  for (const auto& direction : directions) {
    for (int axis = 0; axis < block.dimensions; ++axis) {
      const auto dim = static_cast<std::size_t>(block.dimensions - 1 - axis);
      const int parts = cartesian.dims()[dim];
      const bool exchanged = direction[axis] != 0 && (parts > 1 || cartesian.periodic()[dim]);
      if (exchanged && block.global[axis] / parts < block.ghosts)
        throw std::invalid_argument(
            fmt::format("a halo of {} layers, but {} along axis {} in {} parts leave a rank with {}", block.ghosts,
                        block.global[axis], axis, parts, block.global[axis] / parts));
    }
  }
}

} // namespace

std::vector<HaloSlot> halo_slots(const comm::Communicator& cartesian, const Block& block,
                                 const std::vector<Direction>& directions) {
  refuse_thin_blocks(cartesian, block, directions);
  const auto peer = [&](const Direction& direction) {
    bool wraps = false;
    for (int axis = 0; axis < block.dimensions; ++axis) wraps = wraps || (direction[axis] != 0 && block.wraps[axis]);
    const int rank = rank_in(cartesian, direction);
    return rank == cartesian.rank() && wraps ? comm::no_rank : rank;
  };
  std::vector<HaloSlot> slots;
  for (const auto& direction : directions)
    slots.push_back({own_layer(block, direction), peer(direction), ghost_layer(block, opposite(direction)),
                     peer(opposite(direction))});
  return slots;
}

} // namespace kontor::grid
