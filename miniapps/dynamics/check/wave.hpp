// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/options.hpp"

#include <vector>

namespace kontor::dynamics {

/// The bar as a line of nodes, when it moves along x only.
struct Line {
  std::vector<double> chain; ///< displacement of each node by the same scheme: masses and springs
  std::vector<double> exact; ///< d'Alembert's solution
  double greatest = 0;       ///< displacement at any step: at the last one it may be close to 0
  double strain = 0;         ///< the largest at any step
  /// How far the scheme may be from it, relative to the greatest. Central differences give a wave of number k the speed
  /// c (1 - (k h)^2 (1 - C^2) / 24) with the Courant number C <= 1 (J. C. Strikwerda, Finite Difference Schemes and
  /// Partial Differential Equations, 2004, section 5.2): t |v''| h^2 / 24. The start's velocity is known at nodes:
  /// t |v''| h^2 / 8. It holds for the whole first step, which makes the amplitude (C k h)^2 / 6 too large.
  double truncation = 0;
};

/// Local. The line after `steps` steps of equal length, `time` in all; nothing unless the box is straight and of one
/// material with Poisson's ratio 0, no face but those of x is held, and the velocity has an x component alone, which
/// depends on x alone.
std::optional<Line> line_of(const Options&, std::int64_t steps, double time);

} // namespace kontor::dynamics
