// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>

namespace kontor::output {

/// A uniform mesh as visualisation programs see it: values belong to its cells. A 2-D mesh has one cell along
/// z.
struct Image {
  std::array<std::uint64_t, 3> cells{1, 1, 1}; ///< nx, ny, nz
  std::array<double, 3> origin{0, 0, 0};       ///< the corner of the first cell: x, y, z
  std::array<double, 3> spacing{1, 1, 1};      ///< the size of a cell: dx, dy, dz
};

} // namespace kontor::output
