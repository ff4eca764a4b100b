// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A whole sparse matrix as its entries, as files have it. Knows neither MPI nor Kokkos.
namespace kontor::partition {

/// One entry; rows and columns from 0.
struct Entry {
  std::int64_t row = 0;
  std::int64_t column = 0;
  double value = 0;
  std::int64_t line = 0; ///< of the file
};

/// A square matrix.
struct CoordinateMatrix {
  std::string source;      ///< its file, for messages
  std::int64_t rows = 0;   ///< and columns
  bool symmetric = false;  ///< only the lower triangle is there, and stands for both
  std::uint32_t crc32 = 0; ///< of the file
  std::vector<Entry> entries;

  /// Of the whole matrix, both triangles.
  std::int64_t nonzeros() const;
};

/// Local. Throws config::Error{"<source>:<line>: <message>"}; without the line if it is 0.
[[noreturn]] void fail_at(const std::string& source, std::int64_t line, const std::string& message,
                          errors::Id id = "E-FILE-FORMAT");

/// Local. Sorts the entries by row and column. Throws config::Error, with the lines concerned, if an entry is given
/// twice.
void sort_entries(CoordinateMatrix&);

/// Local. Throws config::Error, with an entry and its line, if a matrix with sorted entries cannot be positive
/// definite: a diagonal entry is missing or not above 0, or an entry is not equal to its counterpart across the
/// diagonal, which is 0 if it is not there. Equal means: but for 1e-12 of the root of both diagonal entries' product,
/// which the entries of a positive definite matrix are smaller than. Entries without a counterpart are taken out.
void require_symmetric_with_positive_diagonal(CoordinateMatrix&);

/// Local. Calls each(row, column, value) for the entries of both triangles of a matrix with sorted entries; those of
/// one row come in the order of their columns.
template <class Each>
void for_each_entry(const CoordinateMatrix& matrix, const Each& each) {
  // The mirrored entries of a row are right of its diagonal, and come with the rows below it.
  for (const auto& entry : matrix.entries) {
    each(entry.row, entry.column, entry.value);
    if (matrix.symmetric && entry.row != entry.column) each(entry.column, entry.row, entry.value);
  }
}

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
