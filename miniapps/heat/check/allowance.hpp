// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/domain.hpp"

namespace kontor::heat {

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
