// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/problem/edges.hpp"

namespace kontor::graph {

/// Edge `number` of a graph of uniformly random ends (GNM: loops and double edges are as likely as others).
Edge uniform_edge(std::uint64_t seed, std::int64_t vertices, std::int64_t number);

/// Edge `number` of Graph500's graph: quadrants of probabilities 0.57, 0.19, 0.19, 0.05, level by level, and vertices
/// renumbered. The vertices are a power of two.
Edge kronecker_edge(std::uint64_t seed, std::int64_t vertices, std::int64_t number);

/// The vertices of a unit square, so many in each cell of a grid as are even, numbered by cells: neighbours are nearer
/// than a radius, which gives the mean degree. Positions are whole numbers.
class Square {
 public:
  Square(std::uint64_t seed, std::int64_t vertices, double degree);
  /// Local. Adds the edges from a vertex to those of larger numbers.
  void add_edges(std::int64_t vertex, std::vector<Edge>&) const;

 private:
  std::int64_t cell_of(std::int64_t vertex) const;
  std::pair<std::int64_t, std::int64_t> position(std::int64_t vertex, std::int64_t cell) const;

  std::uint64_t seed_;
  std::int64_t vertices_;
  std::int64_t side_;          ///< cells along an edge of the square
  std::int64_t square_radius_; ///< in units of a cell's edge / 2^20
};

} // namespace kontor::graph
