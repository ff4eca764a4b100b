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

/// Collective. The deck's exact solution, or, where there is none, the series of a box with one source, one
/// conductivity and one temperature on each face. The bound of the discretisation is estimated, see docs/apps/cg.md;
/// that of eigenvalues is left to the caller.
std::optional<KnownSolution> known_solution(const FeHeatOptions&, const comm::Communicator&, const BoxRows&,
                                            grid::FiniteCheck&);

/// Local. Whether there is one.
bool has_known_solution(const FeHeatOptions&);

/// Local. No eigenvalue of the matrix of free points is smaller than this times the smallest conductivity in a Gauss
/// point.
double least_eigenvalue(const FeHeatOptions&);

// Steady heat conduction in a box each of whose faces has one temperature; source and conductivity are constants.

/// Local. The exact solution in the points of a block, (z, y, x); in those on a face its temperature, of several the
/// last one's in the order x_min, x_max, y_min, ... Inside it is a sum over the faces of Fourier sine series (H. S.
/// Carslaw, J. C. Jaeger, "Conduction of heat in solids", 1959, section 6.2): of a face with temperature T at the end
/// of an axis of length L, with sides b and c across,
///
///   sum over odd m, n of  16 T / (pi^2 m n) sin(m pi y / b) sin(n pi z / c) sinh(g x) / sinh(g L),
///   g = pi sqrt((m / b)^2 + (n / c)^2),
///
/// and terms below 1e-17 of T are left out. To it comes `heating`, source over conductivity, times the solution with
/// source 1 and faces at 0. That is the same of the rectangle across x, with sides b and c,
///
///   v(y, z) = y (b - y) / 2 - sum over odd m of  4 b^2 / (pi m)^3 sin(m pi y / b) w_m(z, c),
///
/// less the series above of both faces across x, with terms over g^2; w_m(z, c) = (sinh(m pi z / b) + sinh(m pi (c - z)
/// / b)) / sinh(m pi c / b) has v = 0 at z = 0 and c, and these faces the solution at theirs.
void fill_box_series(const grid::HostBlockView<double>& values, const grid::Block& points,
                     const std::array<double, 6>& temperatures, double heating = 0);

} // namespace kontor::cg
