// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/cost.hpp"
#include "cg/names.hpp"
#include "cg/solver/one_sum.hpp"

namespace kontor::cg {

/// The updates of merged: p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, and the sums r.u and r.r; u =
/// D^-1 r if scaled.
struct MergedUpdate {
  Vector x, r, u, w, p, s, inverse;
  EndOfStep before;
  /// Of u.w, which the product adds up, too; without a preconditioner u is r.
  static constexpr Cost cost_of(bool scaled, bool preconditioned) {
    return {.updates = scaled ? 6. : 5., .reads = scaled ? 7. : preconditioned ? 6. : 5., .writes = scaled ? 5. : 4.};
  }

  KOKKOS_FUNCTION StepScalars scalars() const { return before.scalars(); }
  template <bool scaled>
  KOKKOS_FUNCTION PartialSums<2> row(std::int64_t i, const StepScalars& c) const {
    PartialSums<2> sums;
    if (!c.goes_on) return sums;
    const double pi = u(i) + c.beta * p(i);
    const double si = w(i) + c.beta * s(i);
    const double ri = r(i) - c.alpha * si;
    p(i) = pi;
    s(i) = si;
    x(i) += c.alpha * pi;
    r(i) = ri;
    double ui = ri;
    if constexpr (scaled) {
      ui = inverse(i) * ri;
      u(i) = ui;
    }
    sums[0] = ri * ui;
    sums[1] = ri * ri;
    return sums;
  }
};

} // namespace kontor::cg
