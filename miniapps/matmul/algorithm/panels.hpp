// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/axis_parts.hpp"
#include "matmul/product.hpp"

#include <numeric>
#include <vector>

/// Cannon's algorithm on a process grid of any shape, as arithmetic.
///
/// On p x q ranks, k is cut into lcm(p, q) panels. A block of A holds as many as a row of ranks has per rank, a block
/// of B as many as a column has. After the skew rank (i, j) has those that follow panel i w_B + j w_A of both,
/// multiplies them one after the other, and gets the next block of A or B when it has none left: so A travels q - 1
/// times, B p - 1 times, as whole blocks (L. E. Cannon, A Cellular Computer to Implement the Kalman Filter Algorithm,
/// PhD thesis, Montana State University, 1969; H.-J. Lee, J. P. Robertson, J. A. B. Fortes, Generalized Cannon's
/// Algorithm for Parallel Matrix Multiplication, ICS 1997).
namespace kontor::matmul {

/// How k is cut into panels, and who has which. Panels go on around: number `count` is number 0 again, k further on.
struct Panels {
  std::int64_t k = 0;
  std::int64_t count = 1; ///< the least common multiple of rows and columns
  std::int64_t in_a = 1;  ///< panels of a block of A
  std::int64_t in_b = 1;  ///< panels of a block of B

  Panels(std::int64_t all, const GridShape& grid)
      : k(all), count(std::lcm(grid.rows, grid.columns)), in_a(count / grid.columns), in_b(count / grid.rows) {}

  /// The first index of a panel.
  std::int64_t begin(std::int64_t panel) const { return grid::part_begin(k, count, panel); }
  /// Indices of so many panels.
  std::int64_t size(std::int64_t first, std::int64_t panels) const { return begin(first + panels) - begin(first); }
  /// The panel that a rank multiplies first.
  std::int64_t first(const GridPlace& place) const { return place.row * in_b + place.column * in_a; }

  /// The steps of all ranks, which multiply the panels of one by one product of matrices: those between places where A
  /// or B moves on. The number of each step's first panel, counted from the rank's first, and in the end `count`.
  std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> begins;
    for (std::int64_t t = 0; t <= count; ++t)
      if (t % in_a == 0 || t % in_b == 0) begins.push_back(t);
    return begins;
  }
};

} // namespace kontor::matmul
