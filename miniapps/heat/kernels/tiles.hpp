// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"

#include <algorithm>
#include <cstdint>

namespace kontor::heat {

/// The tiles of a box.
struct Tiles {
  /// So that the rows or planes that a pass works on fill a part of a cache; several threads have equal shares. In 3-D
  /// a tile goes through bands of its rows.
  Tiles(const Box& whole, int dimensions, int sweeps, std::int64_t cache_values, std::int64_t threads) : box(whole) {
    const auto rows = cache_values / ((dimensions == 3 ? 2 : 3) * sweeps + 1); // of a row's or a plane's cells
    const std::int64_t least = 64;
    for (int axis = 0; axis < 3; ++axis) size[axis] = box.extent(axis);
    if (sweeps > 1 && dimensions == 2) size[0] = std::min(size[0], std::max(rows, 8 * least) / least * least);
    if (sweeps > 1 && dimensions == 3) {
      const auto pieces = least * std::max<std::int64_t>(1, (size[0] + 4 * least) / (8 * least));
      size[0] = std::min(size[0], (size[0] + pieces - 1) / pieces * least);
    }
    if (dimensions == 3) band = std::max<std::int64_t>(4, rows / size[0]);
    size[1] = (size[1] + threads - 1) / threads; // the slow axis of 2-D
    for (int axis = 0; axis < 3; ++axis) count[axis] = (box.extent(axis) + size[axis] - 1) / size[axis];
  }
  /// Values between the sweeps of a pass over a tile.
  std::int64_t room(int sweeps, std::int64_t line) const {
    const auto rows = band == 1 ? 3 : 2 * (band - 2) + 1 + 2 * (size[2] + 2 * sweeps);
    return (sweeps - 1) * (size[0] + 2 * sweeps + 4 * line) * rows;
  }
  std::int64_t all() const { return count[0] * count[1] * count[2]; }
  Box operator()(std::int64_t tile) const {
    Box part = box;
    for (int axis = 0; axis < 3; ++axis) {
      part.begin[axis] += tile % count[axis] * size[axis];
      part.end[axis] = std::min(part.begin[axis] + size[axis], box.end[axis]);
      tile /= count[axis];
    }
    return part;
  }
  Box box;
  std::int64_t size[3], count[3], band = 1;
};

} // namespace kontor::heat
