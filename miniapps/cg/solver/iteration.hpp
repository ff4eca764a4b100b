// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/stop_reason.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

/// What kernels know of an iteration, in the memory of the space: the host only reads of it, later.
namespace kontor::cg {

/// How it stands: whether it goes on, and by which numbers it ends.
struct IterationState {
  double rhs = 0;               ///< squared norm of the right-hand side
  double tolerance = 0;         ///< of the squared residual
  std::int64_t stagnation = 0;  ///< iterations without a smaller residual that are too many; 0: any number
  double smallest = 0;          ///< squared residual so far
  std::int64_t smallest_at = 0; ///< the iteration that it is of
  std::int64_t next = 0;        ///< entries written to the log
  std::int64_t made = 0;        ///< iterations that have changed x
  int ended = 0;                ///< 0: it goes on; else 1 + StopReason
};
KOKKOS_INLINE_FUNCTION int code_of(StopReason ending) { return 1 + static_cast<int>(ending); }

/// The numbers of an iteration.
struct CgScalars {
  double rz = 0;    ///< r.z of the residual r, z = M r; 0: no iteration has been made
  double alpha = 0; ///< of the step that is made next or, in classic, was made last
  double beta = 0;
};

/// What comes of one iteration.
struct StepEnd {
  double squared_residual;
  double alpha, beta; ///< by which it was reached
  int problem;        ///< 0, or why there is no next one, as code_of()
  bool made;          ///< false: this one could not be made, and x is as it was
};

KOKKOS_INLINE_FUNCTION bool finite(double value) { return value - value == 0; }

/// Squares below this have lost digits.
inline constexpr double smallest_square = 1e-290;
/// A squared residual that is this small a part of b may be what rounding leaves: pipelined recurrences, which lose
/// most, stop between 1e-12 and 1e-10 of b.
inline constexpr double rounding_square = 1e-20;

/// Whether a step can be made by these: r.z of a residual that is not 0, and p.A p. What a recurrence has made is not
/// exact, and proves nothing.
KOKKOS_INLINE_FUNCTION int problem_of(double rr, double rz, bool exact_rz, double curvature, bool exact_curvature) {
  if (!finite(rr) || !finite(rz) || !finite(curvature)) return code_of(StopReason::not_finite);
  if (rz > 0 && curvature > 0) return 0;
  if (rz < 0 && exact_rz) return code_of(StopReason::indefinite_preconditioner);
  if (rz > 0 && exact_curvature && rr > smallest_square) return code_of(StopReason::indefinite);
  return code_of(StopReason::breakdown);
}

/// For methods with one sum an iteration: gamma = r.u, delta = u.A u of the residual that was reached, u = M r. `exact`
/// says that gamma and delta were not made by recurrences. p.A p = delta - beta gamma / alpha, because the p of all
/// steps are A-orthogonal (Chronopoulos and Gear 1989). Where no step can be made because the residual is what rounding
/// leaves, it is one of length 0, and the next begins anew.
KOKKOS_INLINE_FUNCTION StepEnd end_of_step(CgScalars& numbers, double rr, double gamma, double delta, bool exact,
                                           double rhs) {
  const bool anew = numbers.rz == 0;
  const double beta = anew ? 0 : gamma / numbers.rz;
  const double curvature = anew ? delta : delta - beta * gamma / numbers.alpha;
  int problem = problem_of(rr, gamma, exact, curvature, exact && anew);
  if (problem == code_of(StopReason::breakdown) && exact && delta <= 0) // u.A u <= 0, whatever the curvature
    problem = problem_of(rr, gamma, true, delta, true);
  const double alpha_before = numbers.alpha;
  numbers = {gamma, gamma / curvature, beta};
  if (problem == code_of(StopReason::breakdown) && rr <= rounding_square * rhs) {
    problem = 0;
    numbers = {0, 0, 0};
  }
  return {rr, alpha_before, beta, problem, true};
}

} // namespace kontor::cg
