// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"

#include <kontor/config/function.hpp>

namespace kontor::advection {

/// Weights of neighbouring shifts: first, first + 1, ... cells.
struct Shifts {
  std::int64_t first = 0;
  std::vector<double> weights; ///< their sum is 1
};

/// Local. A step keeps the part 1 - courant of a value where it is and takes the part courant one cell on; so the
/// shifts after n steps have a binomial distribution. Those of no weight in double precision are left out.
Shifts shifts_after(std::int64_t steps, double courant);

/// Local. What the scheme, without rounding, has in the cells [begin, end) of the ring after these shifts of the
/// `initial` values.
std::vector<double> exact(const Options&, const config::Function& initial, const Shifts&, std::int64_t begin,
                          std::int64_t end);

} // namespace kontor::advection
