// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/verification.hpp"

#include "cg/reduce.hpp"
#include "cg/sums.hpp"
#include "cg/symmetry.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/phase_times.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

namespace kontor::cg {
namespace {

/// b.b, r.r of r = b - A x, and the sums of |x - exact|^2 and |exact|^2.
struct Compare {
  Vector b, ax, x, exact;
  bool known;
  KOKKOS_FUNCTION SumsOf<4> operator()(std::int64_t i) const {
    SumsOf<4> sums;
    const double residual = b(i) - ax(i);
    sums[0] = b(i) * b(i);
    sums[1] = residual * residual;
    if (known) {
      sums[2] = (x(i) - exact(i)) * (x(i) - exact(i));
      sums[3] = exact(i) * exact(i);
    }
    return sums;
  }
};

struct LargestEntry {
  Vector values;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& largest) const {
    const double size = values(i) < 0 ? -values(i) : values(i);
    if (size > largest) largest = size;
  }
};

/// Collective. In absolute value.
double largest_entry(const comm::Communicator& comm, const Vector& values) {
  double largest = 0;
  Kokkos::parallel_reduce("cg/largest entry", Policy(0, static_cast<std::int64_t>(values.extent(0))),
                          LargestEntry{values}, Kokkos::Max<double>(largest));
  return comm::allreduce(comm, values.extent(0) > 0 ? largest : 0.0, comm::ReduceOp::max);
}

/// By how much the residual of the recurrence may differ from the true one. Rounding alone leaves the unit
/// roundoff times |A| |x| / |b| and the number of iterations (A. Greenbaum, SIAM J. Matrix Anal. Appl. 18,
/// 1997); above this the recurrence has lost its meaning.
constexpr double recurrence_tolerance = 1e-8;

/// The error beside the known solution, where all are root mean squares: what it may be is the sum of what
/// the discretisation misses and what the residual leaves, or what the deck says.
miniapp::Verification verify_error(double error, double known, double residual, const ErrorBound& bound,
                                   const std::optional<double>& given,
                                   const miniapp::Verification& of_residual) {
  const double left = residual / bound.least_eigenvalue;
  miniapp::Verification result{.measure = "error of the solution, root mean square", .error = error};
  result.tolerance = given.value_or(bound.discretisation + left);
  result.remark = fmt::format("{}; {} {:.1e}, tolerance {:.1e}", of_residual.remark, of_residual.measure,
                              of_residual.error, of_residual.tolerance);
  const double size = bound.variation > 1e-12 * known ? bound.variation : known;
  constexpr double most = 0.25; // of the solution's variation
  if (given || result.tolerance <= most * size) return result;
  result.conclusive = false;
  result.remark = fmt::format(
      "{} to verify: the solution varies by {:.3g} (root mean square), of which the discretisation may miss "
      "{:.3g} and the residual leaves up to {:.3g}, where {:.0f} % are allowed; take {}, or judge by a "
      "verification.tolerance",
      left > bound.discretisation ? "not converged enough" : "too coarse", size, bound.discretisation, left,
      100 * most,
      left > bound.discretisation ? "more iterations or a smaller solver.tolerance" : "more elements");
  return result;
}

/// Collective. `x` is used up.
miniapp::Verification verify_solution(const comm::Communicator& comm, const LinearSystem& system,
                                      Operator& product, const Space& compute, const Options& options,
                                      const Outcome& outcome, const Vector& solution, GhostedVector& x,
                                      Accuracy* found) {
  Kokkos::deep_copy(compute, x.own(), solution);
  const Vector ax("cg/A x", system.partition.own);
  product.apply(x, ax);
  Sums sums(comm, "norms of the solution", 4, compute, SumKind::fast);
  for_rows_with_sums<4>(
      "cg/compare", compute, system.partition.own,
      Compare{system.rhs, ax, solution, system.exact.value_or(Vector()), system.exact.has_value()},
      sums.parts(), Store<4>{sums.local()});
  sums.start(compute);
  sums.finish(compute);
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums.values());
  const double scale = on_host(0) > 0 ? std::sqrt(on_host(0)) : 1;
  const double residual = std::sqrt(on_host(1)) / scale;

  const auto rows = static_cast<double>(system.partition.rows);
  Accuracy accuracy{.residual = residual};
  if (system.exact) {
    accuracy.error = std::sqrt(on_host(2) / rows);
    accuracy.relative_error = std::sqrt(on_host(2) / (on_host(3) > 0 ? on_host(3) : 1));
  }
  if (found) *found = accuracy;

  miniapp::Verification of_residual{.measure = "residual b - A x beside b"};
  of_residual.error = residual;
  of_residual.tolerance = 2 * options.solver.tolerance;
  if (options.solver.tolerance == 0) { // any residual will do, if it is the recurrence's
    of_residual.measure = "b - A x against the residual of the recurrence, beside b";
    of_residual.error = std::abs(residual - outcome.residual);
    of_residual.tolerance = recurrence_tolerance;
  }
  of_residual.remark = words(outcome);
  of_residual.conclusive = succeeded(outcome.ending);
  if (outcome.ending == Ending::zero_rhs) {
    const double largest = largest_entry(comm, system.rhs);
    of_residual.conclusive = largest == 0;
    if (largest > 0)
      of_residual.remark =
          fmt::format("entries of the right-hand side are so small, up to {:.3g}, that the sum of "
                      "their squares is 0, so nothing was solved: multiply the matrix and the "
                      "right-hand side by a large number",
                      largest);
  }
  if (!system.exact || of_residual.failed()) return of_residual;
  if (system.error_bound || options.verification_tolerance)
    return verify_error(*accuracy.error, std::sqrt(on_host(3) / rows), std::sqrt(on_host(1) / rows),
                        system.error_bound.value_or(ErrorBound{}), options.verification_tolerance,
                        of_residual);
  of_residual.remark += fmt::format("; error {:.2e} beside the known solution", *accuracy.relative_error);
  return of_residual;
}

/// The verdict where an operator is not symmetric, of a run that had another one so far.
miniapp::Verification not_symmetric(const std::string& which, double found,
                                    const miniapp::Verification& verified) {
  return {.measure = fmt::format("asymmetry of the {}, |x.By - y.Bx| beside |x||By| + |y||Bx|", which),
          .error = found,
          .tolerance = symmetry_tolerance,
          .remark = fmt::format("conjugate gradients need a symmetric one; {}", verified.remark)};
}

} // namespace

miniapp::Verification verify(const comm::Communicator& comm, const LinearSystem& system, Operator& product,
                             stepping::Streams<Space>& streams, const Options& options,
                             const Outcome& outcome, const Vector& solution, Preconditioner* preconditioner,
                             Accuracy* found) {
  const auto& compute = streams.compute();
  GhostedVector x(comm, system.partition, "cg/vector to verify with", streams.exchange());
  double seconds = 0;
  comm::Stopwatch watch;
  const double of_matrix = asymmetry(comm, system.partition, compute, [&](const Vector& v, const Vector& av) {
    Kokkos::deep_copy(compute, x.own(), v);
    product.apply(x, av);
  });
  double of_preconditioner = 0;
  if (preconditioner && preconditioner->definite())
    of_preconditioner = asymmetry(comm, system.partition, compute,
                                  [&](const Vector& v, const Vector& mv) { preconditioner->apply(v, mv); });
  watch.lap(seconds);

  auto result = verify_solution(comm, system, product, compute, options, outcome, solution, x, found);
  if (of_matrix > symmetry_tolerance || (result.passed() && std::isnan(of_matrix)))
    result = not_symmetric("matrix", of_matrix, result);
  else if (result.passed() && !(of_preconditioner <= symmetry_tolerance))
    result = not_symmetric("preconditioner", of_preconditioner, result);
  result.remark += fmt::format("; asymmetry of the matrix {:.1e}", of_matrix);
  result.more = {{"matrix_asymmetry", of_matrix}};
  if (preconditioner) {
    result.remark += fmt::format(", of the preconditioner {:.1e}", of_preconditioner);
    result.more.emplace_back("preconditioner_asymmetry", of_preconditioner);
  }
  result.more.emplace_back("symmetry_tolerance", symmetry_tolerance);
  result.more.emplace_back("symmetry_seconds", seconds);
  return result;
}

} // namespace kontor::cg
