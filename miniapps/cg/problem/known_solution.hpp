// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/options.hpp"
#include "cg/problem/box_rows.hpp"
#include "cg/problem/linear_system.hpp"
#include "grid/block.hpp"
#include "grid/field.hpp"
#include "grid/functions.hpp"

/// What the temperature of fe_heat is to be compared with.
namespace kontor::cg {

/// In own rows.
struct KnownSolution {
  Vector values;
  ErrorBound bound;
};

/// Collective. The deck's exact solution. The bound of the discretisation is estimated, see docs/apps/cg.md; that of
/// eigenvalues is left to the caller.
KnownSolution known_solution(const config::Expression& exact, const comm::Communicator&, const BoxRows&,
                             grid::FiniteCheck&);

/// Local. No eigenvalue of the matrix of free points is smaller than this times the smallest conductivity in a Gauss
/// point.
double least_eigenvalue(const FeHeatOptions&);

/// Local. No eigenvalue of the matrix of a stencil is smaller: with t = pi / (points + 1) along each axis, 7 points
/// have 6 - 2 sum of cos t, 27 points 27 - product of (1 + 2 cos t).
double least_eigenvalue(const StencilOptions&);

} // namespace kontor::cg
