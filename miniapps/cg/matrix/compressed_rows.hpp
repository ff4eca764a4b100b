// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"

namespace kontor::cg {

/// A rank's rows of a sparse matrix (CSR). The entries of a row are in the order of their columns in the whole matrix,
/// so that a row is summed in the same order whoever owns which rows.
struct CompressedRows {
  Offsets offsets;              ///< where the entries of each row begin: (rows + 1)
  Rows columns;                 ///< local numbers, own or ghost: (entries)
  Kokkos::View<double*> values; ///< (entries)

  LocalIndex rows() const { return offsets.extent(0) == 0 ? 0 : static_cast<LocalIndex>(offsets.extent(0) - 1); }
  std::int64_t entries() const { return static_cast<std::int64_t>(values.extent(0)); }
};

/// Local. Bytes that a product with these rows must move: the rows, each vector once.
inline double bytes_of_product(const CompressedRows& rows) {
  return static_cast<double>(rows.entries()) * (sizeof(double) + sizeof(LocalIndex)) +
         static_cast<double>(rows.rows()) * (sizeof(std::int64_t) + 2 * sizeof(double));
}

/// Local, waits. From the number of entries of each row r at r + 1, and 0 at 0, to where the entries of each row begin,
/// in place. Returns how many there are in all.
std::int64_t sum_counts(const Offsets& counts);

} // namespace kontor::cg
