// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"

#include <algorithm>
#include <cstdint>

namespace kontor::heat {

/// The tiles of a box.
struct Tiles {
  /// So that the rows or planes that a pass works on fill a part of a cache; several threads have equal shares.
  Tiles(const Box& whole, int dimensions, int sweeps, std::int64_t cache_values, std::int64_t threads) : box(whole) {
    const auto rows = cache_values / ((dimensions == 3 ? 2 : 3) * sweeps + 1); // of a row's or a plane's cells
    const std::int64_t margin = 2 * sweeps, least = 64;
    size[0] = std::min(box.extent(0), std::max(rows / (dimensions == 3 ? 4 * margin : 1), 8 * least) / least * least);
    if (sweeps == 1) size[0] = box.extent(0);
    size[1] = dimensions == 3
                  ? std::clamp<std::int64_t>(rows / size[0] - margin, 4, std::max<std::int64_t>(4, box.extent(1)))
                  : box.extent(1);
    size[2] = box.extent(2);
    if (threads > 1) { // along the slow axis of 2-D, or along y
      const auto share = size[1] * threads, shares = (box.extent(1) + share - 1) / share * threads;
      size[1] = (box.extent(1) + shares - 1) / shares;
    }
    for (int axis = 0; axis < 3; ++axis) count[axis] = (box.extent(axis) + size[axis] - 1) / size[axis];
  }
  /// Values between the sweeps of a pass over a tile.
  std::int64_t room(int sweeps, std::int64_t line) const {
    return (sweeps - 1) * (size[0] + 2 * sweeps + 4 * line) * (2 * (size[1] + 2 * sweeps) + 1);
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
  std::int64_t size[3], count[3];
};

} // namespace kontor::heat
