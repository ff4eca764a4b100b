// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/row_values.hpp"
#include "cg/names.hpp"
#include "cg/options.hpp"
#include "partition/partition.hpp"

#include <functional>

namespace kontor::cg {

/// How far x may be from the known solution, as root mean square over the rows, which is what vectors are compared by
/// here: the norm over the square root of the number of rows.
struct ErrorBound {
  double discretisation = 0;   ///< of the exact solution of A x = b; of a right-hand side that is made of the
                               ///< known solution: by rounding
  double least_eigenvalue = 1; ///< no eigenvalue of A is smaller, but for rows that have only their diagonal
                               ///< and no residual: |x - A^-1 b| <= |b - A x| / this
  double variation = 0;        ///< of the known solution around its mean
};

/// A x = b, this rank's rows.
struct LinearSystem {
  Partition partition;
  CompressedRows matrix = {};                   ///< empty where nothing needs it: see unassembled
  std::optional<SellRows> chunks = {};          ///< the matrix where nothing needs it otherwise
  std::optional<std::int64_t> unassembled = {}; ///< entries of own rows of a matrix that is not stored in `matrix`
  Vector rhs = {};
  Vector initial = {};                              ///< guess; empty: 0
  std::function<void(const Vector& to)> exact = {}; ///< local, waits: own values of the solution, where it is known
  std::optional<ErrorBound> error_bound = {};

  /// Of own rows, stored or not.
  std::int64_t entries() const { return unassembled.value_or(matrix.entries()); }

  /// Local, waits. Room for values where `matrix` has offsets and columns. If only format sell needs the matrix, these
  /// become its chunks, and are freed first: the matrix is there once.
  RowValues make_room(const SolverOptions&);
};

} // namespace kontor::cg
