// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/cost.hpp"
#include "cg/names.hpp"
#include "cg/solver/iteration.hpp"
#include "cg/solver/residual_log.hpp"
#include "stepping/team_sums.hpp"

/// What the methods with one sum an iteration have in common: how alpha and beta come of the sums.
namespace kontor::cg {

/// What a step's updates multiply with.
struct StepScalars {
  double alpha, beta;
  bool goes_on; ///< false: it has ended, and vectors stay as they are
};

/// The end of one step, from which the next one begins. Every team of a kernel can compute what comes of it; one thread
/// writes it down, when all have read.
struct EndOfStep {
  const double* sums; ///< over all ranks: r.u, r.r, w.u
  bool two_parts;     ///< w.u is the sum of two numbers
  bool recurrences;   ///< vectors are made by recurrences but for the first step's
  bool late;          ///< the updates after it write it down; or a kernel has done so before
  CgScalars* numbers;
  ResidualLog::Writer log;

  KOKKOS_FUNCTION StepScalars scalars() const {
    if (!late) return {numbers->alpha, numbers->beta, log.state->ended == 0};
    CgScalars next = *numbers;
    const auto step = end(next);
    return {next.alpha, next.beta, log.ended_by(step) == 0};
  }
  KOKKOS_FUNCTION void write() const {
    CgScalars next = *numbers;
    log(end(next));
    *numbers = next;
  }

 private:
  KOKKOS_FUNCTION StepEnd end(CgScalars& next) const {
    const double wu = two_parts ? sums[2] + sums[3] : sums[2];
    return end_of_step(next, sums[1], sums[0], wu, !recurrences || log.state->next == 0, log.state->rhs);
  }
};

/// After the updates: the step before them has ended, and then come their sums.
template <int count>
struct EndThenStore {
  EndOfStep end;
  double* to;
  KOKKOS_FUNCTION void operator()(const PartialSums<count>& sums) const {
    if (end.late) end.write();
    StoreTo<count>{to}(sums);
  }
};

/// The same by a kernel of its own.
struct WriteEnd {
  EndOfStep end;
  KOKKOS_FUNCTION void operator()(int) const { end.write(); }
};

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
  /// What a row reads, so that a thread can load several rows before it changes one.
  struct Loaded {
    double x, r, u, w, p, s, inverse;
  };
  template <bool scaled>
  KOKKOS_FUNCTION Loaded load(std::int64_t i) const {
    return {x(i), r(i), u(i), w(i), p(i), s(i), scaled ? inverse(i) : 1};
  }
  template <bool scaled>
  KOKKOS_FUNCTION PartialSums<2> row(std::int64_t i, const StepScalars& c) const {
    return row<scaled>(i, load<scaled>(i), c);
  }
  template <bool scaled>
  KOKKOS_FUNCTION PartialSums<2> row(std::int64_t i, const Loaded& is, const StepScalars& c) const {
    PartialSums<2> sums;
    if (!c.goes_on) return sums;
    const double pi = is.u + c.beta * is.p;
    const double si = is.w + c.beta * is.s;
    const double ri = is.r - c.alpha * si;
    p(i) = pi;
    s(i) = si;
    x(i) = is.x + c.alpha * pi;
    r(i) = ri;
    double ui = ri;
    if constexpr (scaled) {
      ui = is.inverse * ri;
      u(i) = ui;
    }
    sums[0] = ri * ui;
    sums[1] = ri * ri;
    return sums;
  }
};

} // namespace kontor::cg
