// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kontor::miniapp {

/// The part of an axis that one of `parts` equal blocks covers: the first `cells % parts` blocks have one
/// cell more.
struct BlockRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};
BlockRange block_range(std::int64_t cells, int parts, int index);

/// The process grid over `cells` (x, y[, z]) whose blocks have the smallest inner surface, which is what a
/// halo exchange moves. Of equals, the one that cuts the slower axes, whose faces lie in one piece.
/// Empty if every grid would leave a rank without cells.
std::vector<int> smallest_surface_grid(int ranks, std::span<const std::int64_t> cells);

} // namespace kontor::miniapp
