// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/panels.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/redistribution.hpp"

/// How matrices are given: distributed over the process grid as they are stored, whatever the product needs.
namespace kontor::matmul {

/// A matrix of the deck, by its extents as it is stored.
struct StoredSize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

inline bool is_transposed(const MatrixOptions& o) { return o.operation == Operation::transpose; }
inline StoredSize stored_a(const Options& o) {
  if (is_transposed(o.a)) return {o.size.k, o.size.m};
  return {o.size.m, o.size.k};
}
inline StoredSize stored_b(const Options& o) {
  if (is_transposed(o.b)) return {o.size.n, o.size.k};
  return {o.size.k, o.size.n};
}
inline StoredSize stored_c(const Options& o) { return {o.size.m, o.size.n}; }

/// Local. The part of a matrix that the rank at (row, column) of the process grid is given.
inline MatrixParts given_part(const Options& o, const StoredSize& size, const GridShape& grid, int row, int column) {
  if (o.distribution == Distribution::block_cyclic)
    return {cyclic_part(size.rows, o.block_size[0], grid.rows, row),
            cyclic_part(size.columns, o.block_size[1], grid.columns, column)};
  return {block_part(size.rows, grid.rows, row), block_part(size.columns, grid.columns, column)};
}

/// Local. The part that a multiplication wants there: rows of op(A) and columns of op(B) are those of C; k is cut along
/// the ranks of a row for A, of a column for B.
inline MatrixParts wanted_part(const StoredSize& size, const GridShape& grid, bool transposed, int row, int column) {
  if (transposed) return {block_part(size.rows, grid.columns, column), block_part(size.columns, grid.rows, row)};
  return {block_part(size.rows, grid.rows, row), block_part(size.columns, grid.columns, column)};
}

/// Local. The parts of a matrix of the first layer by the numbers of ranks, which begin with that layer, row by row;
/// ranks of other layers have none. As they are given, and as a multiplication wants them.
inline PartsOfRank given_parts(const Options& o, const StoredSize& size, const GridShape& grid) {
  return [=, &o](int rank) {
    if (rank >= grid.rows * grid.columns) return MatrixParts{};
    return given_part(o, size, grid, rank / grid.columns, rank % grid.columns);
  };
}
inline PartsOfRank wanted_parts(const StoredSize& size, const GridShape& grid, bool transposed) {
  return [=](int rank) {
    if (rank >= grid.rows * grid.columns) return MatrixParts{};
    return wanted_part(size, grid, transposed, rank / grid.columns, rank % grid.columns);
  };
}

/// Local. Whether the two are the same on all ranks.
inline bool is_given_as_wanted(const Options& o, bool transposed, const GridShape& grid) {
  return o.distribution == Distribution::block && (!transposed || (grid.rows == 1 && grid.columns == 1));
}

/// Local. Elements that a rank gives away or gets at most when one of the matrices is redistributed.
inline std::int64_t staging_elements(const Options& o, const GridShape& grid, const GridPlace& place) {
  std::int64_t most = 0;
  const auto look = [&](const StoredSize& size, bool transposed) {
    if (place.layer > 0 || is_given_as_wanted(o, transposed, grid)) return;
    const auto given = given_part(o, size, grid, place.row, place.column);
    const auto wanted = wanted_part(size, grid, transposed, place.row, place.column);
    most = std::max({most, given.rows.size * given.columns.size, wanted.rows.size * wanted.columns.size});
  };
  look(stored_a(o), is_transposed(o.a));
  look(stored_b(o), is_transposed(o.b));
  look(stored_c(o), false);
  return most;
}

} // namespace kontor::matmul
