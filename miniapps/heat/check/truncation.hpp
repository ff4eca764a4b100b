// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/functions.hpp"
#include "heat/names.hpp"
#include "heat/options.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kontor::heat {

/// By how much the formulas of cells and steps miss the derivatives of a solution: the largest size over the cells
/// looked at, by what the cells touch. Nothing but the solution's formula goes into it: neither the deck's source and
/// boundary values nor what sweeps have computed.
struct Truncation {
  double inner = 0;                ///< u per time, in cells without a boundary face
  double dirichlet = 0;            ///< u: in cells at Dirichlet faces, over what these add to the diagonal
  std::array<double, 6> neumann{}; ///< u per time, in other cells at each Neumann face
};

/// The larger of each part.
inline constexpr auto larger = [](const Truncation& a, const Truncation& b) {
  Truncation result{std::max(a.inner, b.inner), std::max(a.dirichlet, b.dirichlet), {}};
  for (std::size_t face = 0; face < a.neumann.size(); ++face)
    result.neumann[face] = std::max(a.neumann[face], b.neumann[face]);
  return result;
};

/// Local. That of `exact` at time t in this rank's cells, `most` of them along each axis or all if they are fewer;
/// `step` is that of time, 0 if steady. The solution is evaluated in these cells' centres, on their faces and in the
/// centres of their neighbours, nowhere outside the domain. Infinite if it is not finite there.
Truncation truncation(const Options&, const Block&, const grid::DeckFunction& exact, double t, double step,
                      std::int64_t most);

} // namespace kontor::heat
