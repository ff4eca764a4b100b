// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/coordinate_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kontor::partition {

/// Which rows of a symmetric matrix read which others: its entries off the diagonal. Index is an integer that holds the
/// number of entries.
template <class Index>
struct Graph {
  std::vector<Index> offsets;    ///< where the neighbours of each row begin: (rows + 1)
  std::vector<Index> neighbours; ///< by row, ascending

  Index rows() const { return static_cast<Index>(offsets.size()) - 1; }
  Index degree(Index row) const {
    return offsets[static_cast<std::size_t>(row) + 1] - offsets[static_cast<std::size_t>(row)];
  }
};

/// Local. Of a matrix with sorted entries.
template <class Index>
Graph<Index> make_graph(const CoordinateMatrix& matrix) {
  Graph<Index> graph;
  auto& offsets = graph.offsets;
  offsets.assign(static_cast<std::size_t>(matrix.rows) + 1, 0);
  for_each_entry(matrix, [&](std::int64_t row, std::int64_t column, double) {
    if (row != column) ++offsets[static_cast<std::size_t>(row) + 1];
  });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  graph.neighbours.resize(static_cast<std::size_t>(offsets.back()));
  std::vector<Index> next(offsets.begin(), offsets.end() - 1);
  for_each_entry(matrix, [&](std::int64_t row, std::int64_t column, double) {
    if (row == column) return;
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++)] = static_cast<Index>(column);
  });
  return graph;
}

} // namespace kontor::partition
