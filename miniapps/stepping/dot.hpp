// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/team_sums.hpp"

namespace kontor::stepping {

/// A row's part of a dot, of the rows from `begin` on.
struct DotTerm {
  Vector x, y;
  std::int64_t begin = 0;
  KOKKOS_FUNCTION PartialSums<1> operator()(std::int64_t i) const {
    PartialSums<1> sum;
    sum[0] = x(begin + i) * y(begin + i);
    return sum;
  }
};

} // namespace kontor::stepping
