// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/compressed_rows.hpp"
#include "cg/partition.hpp"

#include <cstdint>
#include <optional>

namespace kontor::cg {

/// A x = b, this rank's rows.
struct LinearSystem {
  Partition partition;
  CompressedRows matrix = {};                   ///< empty where nothing needs it: see unassembled
  std::optional<std::int64_t> unassembled = {}; ///< entries of own rows of a matrix that is not stored
  Vector rhs = {};
  Vector initial = {};              ///< guess
  std::optional<Vector> exact = {}; ///< the solution, where it is known

  /// Of own rows, stored or not.
  std::int64_t entries() const { return unassembled.value_or(matrix.entries()); }
};

} // namespace kontor::cg
