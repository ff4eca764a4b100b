// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/scale.hpp"

#include <cstddef>
#include <limits>

namespace kontor::cg {
namespace {

struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> squared_beside; ///< the squared entry to the left of each but the first

  /// How many eigenvalues are below x: as many as the factors of T - x I have negative pivots.
  std::size_t below(double x) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = diagonal[i] - x - (i > 0 ? squared_beside[i - 1] / pivot : 0);
      if (pivot == 0) pivot = -std::numeric_limits<double>::min();
      if (pivot < 0) ++count;
    }
    return count;
  }

  /// The eigenvalue that so many are below. All are in (0, end): it is positive definite.
  double eigenvalue(std::size_t smaller, double end) const {
    double low = 0;
    double high = end;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (below(middle) > smaller ? high : low) = middle;
    }
    return high;
  }
};

} // namespace

EigenvalueBounds ritz_values(const std::vector<std::pair<double, double>>& alpha_beta) {
  Tridiagonal t;
  double end = 0, unit = 1, alpha_before = 0, beta_before = 0;
  for (const auto& [length, beta] : alpha_beta) {
    if (length == 0 && t.diagonal.empty()) continue;
    if (length == 0) break; // what follows is another sequence, of what rounding has left
    if (t.diagonal.empty()) unit = unit_of(length);
    const double alpha = unit * length;
    double entry = 1 / alpha;
    if (!t.diagonal.empty()) {
      entry += beta_before / alpha_before;
      t.squared_beside.push_back(beta_before / (alpha_before * alpha_before));
    }
    t.diagonal.push_back(entry);
    end += entry; // the trace
    alpha_before = alpha;
    beta_before = beta;
  }
  if (t.diagonal.empty()) return {};
  return {unit * t.eigenvalue(0, end), unit * t.eigenvalue(t.diagonal.size() - 1, end)};
}

} // namespace kontor::cg
