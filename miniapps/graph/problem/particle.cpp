// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/problem/particle.hpp"

#include <set>

namespace kontor::graph {

std::vector<int> Torus::neighbours(int rank, double speed) const {
  const auto reach = [&](std::int64_t parts) {
    return std::min(parts, static_cast<std::int64_t>(speed * static_cast<double>(parts)) + 1);
  };
  std::set<int> found;
  const auto x = rank / rows, y = rank % rows;
  for (auto i = -reach(columns); i <= reach(columns); ++i)
    for (auto j = -reach(rows); j <= reach(rows); ++j)
      found.insert(static_cast<int>((x + i + columns) % columns * rows + (y + j + rows) % rows));
  found.erase(rank);
  return {found.begin(), found.end()};
}

} // namespace kontor::graph
