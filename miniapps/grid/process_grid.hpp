// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/config/deck.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// How the ranks are laid over the axes of a box. Axes are in the order x, y, z; Cartesian communicators have them the
/// other way round, so that ranks that are neighbours along the fastest axis have neighbouring numbers.
namespace kontor::grid {

/// The process grid over a box of these extents whose blocks have the smallest inner surface, which is what a halo
/// exchange moves. Of equals, the one that cuts the slower axes, whose faces lie in one piece. A block has at least
/// `least` cells or points along an axis that is cut. Empty if there is no such grid.
std::vector<int> smallest_surface_grid(int ranks, std::span<const std::int64_t> extents, std::int64_t least = 1);

/// A box that a deck divides among the ranks, for messages.
struct DividedBox {
  std::string_view key;  ///< gives its extents: "problem.cells"
  std::string_view unit; ///< what it consists of: "cell" or "point"
  std::span<const std::int64_t> extents;
  std::int64_t least = 1; ///< of a block along an axis that is cut, such as its ghost width
};

/// Local. Makes an empty `process_grid`, which the deck gives under `key`, that of the smallest surface. Throws
/// config::Error if it is not one for so many ranks and that box, or if there is none.
void resolve_process_grid(std::vector<std::int64_t>& process_grid, std::string_view key, const DividedBox&, int ranks,
                          const config::Deck&);

/// Collective. The Cartesian communicator of a process grid; `periodic` says which axes are closed to rings.
comm::Communicator make_cartesian(const comm::Communicator&, const std::vector<std::int64_t>& process_grid,
                                  const std::vector<bool>& periodic);

} // namespace kontor::grid
