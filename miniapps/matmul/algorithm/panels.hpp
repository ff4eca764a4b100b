// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/axis_part.hpp"

#include <numeric>
#include <vector>

/// Cannon's algorithm on a process grid of any shape, as arithmetic.
///
/// On p x q ranks, k is cut into lcm(p, q) panels. A block of A holds as many as a row of ranks has per rank, a block
/// of B as many as a column has. After the skew rank (i, j) has those that follow panel i w_B + j w_A of both,
/// multiplies them one after the other, and gets the next block of A or B when it has none left: so A travels q - 1
/// times, B p - 1 times, as whole blocks (L. E. Cannon, A Cellular Computer to Implement the Kalman Filter Algorithm,
/// PhD thesis, Montana State University, 1969; H.-J. Lee, J. P. Robertson, J. A. B. Fortes, Generalized Cannon's
/// Algorithm for Parallel Matrix Multiplication, ICS 1997). With layers each layer multiplies its part of the panels
/// (E. Solomonik, J. Demmel, Communication-Optimal Parallel 2.5D Matrix Multiplication and LU Factorization Algorithms,
/// Euro-Par 2011).
namespace kontor::matmul {

/// How many ranks there are: `layers` grids of `rows` x `columns`.
struct GridShape {
  int layers = 1;
  int rows = 1;
  int columns = 1;
};

/// Where a rank is in them.
struct GridPlace {
  int layer = 0;
  int row = 0;
  int column = 0;
};

/// How k is cut into panels, and who has which.
struct Panels {
  std::int64_t k = 0;
  std::int64_t count = 1; ///< of panels: the least common multiple of rows, columns and layers
  std::int64_t in_a = 1;  ///< panels of a block of A
  std::int64_t in_b = 1;  ///< panels of a block of B
  std::int64_t steps = 1; ///< panels that a rank multiplies

  Panels(std::int64_t all, const GridShape& grid)
      : k(all),
        count(std::lcm(std::lcm(std::int64_t{grid.rows}, std::int64_t{grid.columns}), std::int64_t{grid.layers})),
        in_a(count / grid.columns), in_b(count / grid.rows), steps(count / grid.layers) {}

  /// The first index of a panel; panels go on around: number `count` is number 0 again, k further on.
  std::int64_t begin(std::int64_t panel) const { return part_begin(k, count, panel); }
  /// Indices of so many panels.
  std::int64_t size(std::int64_t first, std::int64_t panels) const { return begin(first + panels) - begin(first); }
  /// The panel that a rank multiplies first.
  std::int64_t first(const GridPlace& place) const {
    return place.row * in_b + place.column * in_a + place.layer * steps;
  }
  /// How often blocks of A, or of B, move on while a rank multiplies.
  std::int64_t shifts_of_a() const { return (steps + in_a - 1) / in_a - 1; }
  std::int64_t shifts_of_b() const { return (steps + in_b - 1) / in_b - 1; }
};

/// Panels that a rank multiplies by one product of matrices: those from `begin` to before `end`, counted from its
/// first.
struct Segment {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Local. The segments of a rank: cut where A or B moves on and, with `cut_at_end`, where the panels begin again with
/// number 0. Those cuts differ between ranks, the others do not.
inline std::vector<Segment> segments(const Panels& panels, const GridPlace& place, bool cut_at_end) {
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
