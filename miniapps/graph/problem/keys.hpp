// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"
#include "grid/axis_parts.hpp"
#include "random/counter_random.hpp"

#include <cstdint>
#include <vector>

namespace kontor::graph {

/// The keys that a rank begins with, by their numbers.
inline std::vector<std::uint64_t> keys_of(const Options& o, int ranks, int rank) {
  const auto own = grid::part_of_axis(o.keys, ranks, rank);
  std::vector<std::uint64_t> keys;
  keys.reserve(static_cast<std::size_t>(own.size()));
  for (auto i = own.begin; i < own.end; ++i) keys.push_back(random::bits_at(static_cast<std::uint64_t>(o.seed), i, 0));
  return keys;
}

} // namespace kontor::graph
