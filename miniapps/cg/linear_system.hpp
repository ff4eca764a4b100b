// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/compressed_rows.hpp"
#include "cg/partition.hpp"

#include <optional>

namespace kontor::cg {

/// A x = b, this rank's rows.
struct LinearSystem {
  Partition partition;
  CompressedRows matrix = {};
  Vector rhs = {};
  Vector initial = {};              ///< guess
  std::optional<Vector> exact = {}; ///< the solution, where it is known
};

} // namespace kontor::cg
