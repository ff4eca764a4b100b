// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/functions.hpp"
#include "heat/names.hpp"
#include "heat/options.hpp"
#include "heat/problem/domain.hpp"

#include <algorithm>

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

/// By how much a right answer may differ from the exact solution, by cause; docs/apps/heat.md derives it.
struct Allowance {
  double discretisation = 0; ///< the formulas of cells and steps
  double iteration = 0;      ///< sweeps that have not been made
  double rounding = 0;       ///< the scalar type

  double total() const { return discretisation + iteration + rounding; }
};

/// How many sweeps' errors live on together in the current field: an error that every sweep makes anew adds up to that
/// many of it. Infinite without a Dirichlet face, if the number of sweeps is not fixed.
template <class T>
double sweeps_remembered(const Domain<T>&);

/// Collective. For the current field and its exact solution. `magnitude` is the largest size of the values, `distance`
/// the largest difference of exact solution and initial value.
template <class T>
Allowance allowance(const comm::Communicator&, const Domain<T>&, const grid::DeckFunction& exact, double magnitude,
                    double distance);

/// What a sweep or step rounds by, at most: it is about eight operations, and the result of each is off by half an
/// epsilon of it.
template <class T>
double rounding_of_sweep(double magnitude);

} // namespace kontor::heat
