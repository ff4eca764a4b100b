// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

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

} // namespace kontor::grid
