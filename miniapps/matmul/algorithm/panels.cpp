// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/panels.hpp"

#include "matmul/algorithm/axis_part.hpp"

#include <numeric>

namespace kontor::matmul {

Panels::Panels(std::int64_t all, const GridShape& grid)
    : k(all), count(std::lcm(std::lcm(std::int64_t{grid.rows}, std::int64_t{grid.columns}),
                             std::int64_t{grid.layers})),
      in_a(count / grid.columns), in_b(count / grid.rows), steps(count / grid.layers) {}

std::int64_t Panels::begin(std::int64_t panel) const {
  return part_begin(k, count, panel);
}

std::vector<Segment> segments(const Panels& panels, const GridPlace& place, bool cut_at_end) {
  const auto first = panels.first(place);
  std::vector<Segment> result;
  for (std::int64_t begin = 0; begin < panels.steps;) {
    auto end = begin + 1;
    const auto cut = [&](std::int64_t t) {
      return t % panels.in_a == 0 || t % panels.in_b == 0 || (cut_at_end && (first + t) % panels.count == 0);
    };
    while (end < panels.steps && !cut(end)) ++end;
    result.push_back({begin, end});
    begin = end;
  }
  return result;
}

} // namespace kontor::matmul
