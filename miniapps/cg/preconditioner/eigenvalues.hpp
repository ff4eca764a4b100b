// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>
#include <vector>

namespace kontor::cg {

/// The smallest and largest eigenvalue.
struct EigenvalueBounds {
  double smallest = 0;
  double largest = 0;
};

/// Local. Of the operator that a conjugate-gradient method has made some iterations with: of the tridiagonal matrix of
/// Lanczos that its alpha and beta give (Y. Saad, "Iterative methods for sparse linear systems", 2nd ed., section
/// 6.7.3), by bisection with Sturm sequences. Both lie between the operator's own. At least one iteration.
EigenvalueBounds ritz_values(const std::vector<std::pair<double, double>>& alpha_beta);

} // namespace kontor::cg
