// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/free_sum.hpp"
#include "cg/matrix/matrix.hpp"
#include "cg/matrix/sell_sum.hpp"

#include <variant>

namespace kontor::cg {

/// A rank's rows for kernels whose threads sum them one by one: place_of() a position, and sum() of a vector, a
/// position and its place.
struct ThreadRows {
  std::variant<SellSum, FreeSum> rows;
  RowRange positions;
};

} // namespace kontor::cg
