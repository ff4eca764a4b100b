// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

namespace kontor::graph {

/// Vertices in blocks of equal size, one a rank in the order of ranks; the last ones may have fewer, or none.
struct Blocks {
  std::int64_t vertices = 0;
  std::int64_t block = 1;

  Blocks(std::int64_t all, int ranks) : vertices(all), block(std::max<std::int64_t>(1, (all + ranks - 1) / ranks)) {}

  int owner(std::int64_t vertex) const { return static_cast<int>(vertex / block); }
  std::int64_t begin(int rank) const { return std::min(vertices, rank * block); }
  std::int64_t size(int rank) const { return begin(rank + 1) - begin(rank); }
};

} // namespace kontor::graph
