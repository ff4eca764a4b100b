// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/method.hpp"

#include <variant>

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

/// Numbers of a row that a kernel of many steps can keep from one step to the next: kept() of a Row. If the product is
/// one of them (keeps_product), it is the last.
inline constexpr int kept_numbers = 4;

/// Of a row, what the updates of merged change: p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s. A is
/// multiplied with u = M r: w = A u.
struct MergedRow {
  double x, p, s, w, r;

  KOKKOS_FUNCTION void step(double u, const StepScalars& c) {
    p = u + c.beta * p;
    s = w + c.beta * s;
    x = x + c.alpha * p;
    r = r - c.alpha * s;
  }
  /// r.u and r.r.
  KOKKOS_FUNCTION PartialSums<2> sums(double u) const {
    PartialSums<2> sums;
    sums[0] = r * u;
    sums[1] = r * r;
    return sums;
  }
  KOKKOS_FUNCTION double& multiplied() { return r; } ///< before M
  KOKKOS_FUNCTION double& kept(int k) { return k == 0 ? x : k == 1 ? p : k == 2 ? s : w; }
  static constexpr bool keeps_product = true;
};

/// The updates of merged.
struct MergedUpdate {
  using Row = MergedRow;
  Vector x, r, u, w, p, s, inverse; ///< u is r without a preconditioner
  EndOfStep before;
  /// Of u.w, which the product adds up, too.
  static constexpr Cost cost_of(bool scaled, bool preconditioned) {
    return {.updates = scaled ? 6. : 5., .reads = scaled ? 7. : preconditioned ? 6. : 5., .writes = scaled ? 5. : 4.};
  }

  KOKKOS_FUNCTION StepScalars scalars() const { return before.scalars(); }
  KOKKOS_FUNCTION Row load(std::int64_t i) const { return {x(i), p(i), s(i), w(i), r(i)}; }
  KOKKOS_FUNCTION void load_but_kept(std::int64_t i, Row& row) const { row.r = r(i); }
  /// But for the product and what is multiplied; of kept numbers and of the others.
  KOKKOS_FUNCTION void store_kept(std::int64_t i, const Row& row) const {
    x(i) = row.x;
    p(i) = row.p;
    s(i) = row.s;
  }
  KOKKOS_FUNCTION void store_others(std::int64_t /*i*/, const Row& /*row*/) const {}
  KOKKOS_FUNCTION void store_multiplied(std::int64_t i, const Row& row) const { r(i) = row.r; }
  KOKKOS_FUNCTION void store(std::int64_t i, const Row& row) const {
    store_kept(i, row);
    store_multiplied(i, row);
  }
};

/// The same of pipelined: z = n + beta z, s = w + beta s, p = u + beta p, x += alpha p, r -= alpha s, w -= alpha z. A
/// is multiplied with m = M w: n = A m.
struct PipelinedRow {
  double x, p, s, z, r, w, n;

  KOKKOS_FUNCTION void step(double u, const StepScalars& c) {
    z = n + c.beta * z;
    s = w + c.beta * s;
    p = u + c.beta * p;
    x = x + c.alpha * p;
    r = r - c.alpha * s;
    w = w - c.alpha * z;
  }
  /// r.u, r.r and w.u.
  KOKKOS_FUNCTION PartialSums<3> sums(double u) const {
    PartialSums<3> sums;
    sums[0] = r * u;
    sums[1] = r * r;
    sums[2] = w * u;
    return sums;
  }
  KOKKOS_FUNCTION double& multiplied() { return w; } ///< before M
  KOKKOS_FUNCTION double& kept(int k) { return k == 0 ? x : k == 1 ? p : k == 2 ? s : z; }
  static constexpr bool keeps_product = false;
};

/// The updates of pipelined.
struct PipelinedUpdate {
  using Row = PipelinedRow;
  Vector x, r, m, w, n, p, s, z, inverse; ///< m is w without a preconditioner
  EndOfStep before;

  KOKKOS_FUNCTION StepScalars scalars() const { return before.scalars(); }
  KOKKOS_FUNCTION Row load(std::int64_t i) const { return {x(i), p(i), s(i), z(i), r(i), w(i), n(i)}; }
  KOKKOS_FUNCTION void load_but_kept(std::int64_t i, Row& row) const {
    row.r = r(i);
    row.w = w(i);
    row.n = n(i);
  }
  KOKKOS_FUNCTION void store_kept(std::int64_t i, const Row& row) const {
    x(i) = row.x;
    p(i) = row.p;
    s(i) = row.s;
    z(i) = row.z;
  }
  KOKKOS_FUNCTION void store_others(std::int64_t i, const Row& row) const { r(i) = row.r; }
  KOKKOS_FUNCTION void store_multiplied(std::int64_t i, const Row& row) const { w(i) = row.w; }
  KOKKOS_FUNCTION void store(std::int64_t i, const Row& row) const {
    store_kept(i, row);
    store_others(i, row);
    store_multiplied(i, row);
  }
};

/// What a kernel of many steps does with rows.
using OneSumUpdate = std::variant<MergedUpdate, PipelinedUpdate>;

/// A method with one sum an iteration, whose iterations one kernel can make.
class OneSumMethod : public CgMethod {
 public:
  using CgMethod::CgMethod;
  /// Local.
  virtual OneSumUpdate rows() = 0;
};

/// Collective.
std::unique_ptr<OneSumMethod> make_merged(CgState&);
std::unique_ptr<OneSumMethod> make_pipelined(CgState&);

} // namespace kontor::cg
