// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "grid/block.hpp"
#include "grid/functions.hpp"

#include <cstdint>
#include <vector>

namespace kontor::advection {

/// Weights of neighbouring shifts: first, first + 1, ... cells.
struct Shifts {
  std::int64_t first = 0;
  std::vector<double> weights; ///< their sum is 1
};

/// Local. A step keeps the part 1 - courant of a value where it is and takes the part courant one cell on; so
/// the shifts after n steps have a binomial distribution. Those of no weight in double precision are left
/// out.
Shifts shifts_after(std::int64_t steps, double courant);

/// Local. What the scheme, without rounding, has in the cells [begin, end) after so many steps. Cells are
/// those of the whole ring; `block` knows their coordinates, `initial` the values at the start.
std::vector<double> exact(const Options&, const grid::Block& block, const grid::DeckFunction& initial,
                          std::int64_t steps, std::int64_t begin, std::int64_t end);

} // namespace kontor::advection
