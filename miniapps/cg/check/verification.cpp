// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/check/verification.hpp"

#include "cg/check/symmetry.hpp"
#include "cg/scale.hpp"
#include "partition/row_order.hpp"
#include "stepping/row_sums.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/phase_times.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace kontor::cg {
namespace {

/// b = a - b.
struct Difference {
  Vector a, b;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { b(i) = a(i) - b(i); }
};

/// Counts the rows of y that are not A x.
struct TextbookRow {
  CompressedRows a;
  Vector x, y;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& different) const {
    double sum = 0;
    for (auto e = a.offsets(i); e < a.offsets(i + 1); ++e) sum += a.values(e) * x(a.columns(e));
    different += sum == y(i) ? 0 : 1;
  }
};

/// By how much the residual of the recurrence may differ from the true one. Rounding alone leaves the unit roundoff
/// times |A| |x| / |b| and the number of iterations (A. Greenbaum, SIAM J. Matrix Anal. Appl. 18, 1997); above this the
/// recurrence has lost its meaning.
constexpr double recurrence_tolerance = 1e-8;

/// By how much A x and b may differ from those of the reference rows, beside the sum of the sizes of what each adds up:
/// rounding leaves about as many unit roundoffs as a row has entries.
constexpr double reference_tolerance = 1e-12;

/// By how much |b| of the solve may differ from what its rows add up to: rounding of long sums leaves less, and a rank
/// that is left out of sums more, unless its part of b is 0.
constexpr double norm_tolerance = 1e-8;

/// A tolerance above this part of the solution would let a wrong answer pass.
constexpr double most_of_solution = 0.25;

/// Collective; waits. To `all`: own values, then the ghosts by their numbers in the whole matrix.
void with_ghosts(const comm::Communicator& baseline, const Partition& partition, const Vector& own, const Vector& all) {
  const auto global = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partition.global);
  const auto ghosts =
      values_of_rows(baseline, partition, own, {global.data() + partition.own, global.data() + global.extent(0)});
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all);
  std::copy(ghosts.begin(), ghosts.end(), host.data() + partition.own);
  Kokkos::deep_copy(all, host);
  Kokkos::deep_copy(Kokkos::subview(all, std::pair<LocalIndex, LocalIndex>(0, partition.own)), own);
}

/// The largest differences over all ranks, NaN if one is: of A x, and of b.
struct Departure {
  double product = 0, rhs = 0;
  bool any = false; ///< there are rows to compare with
  double largest() const { return std::isnan(product) || product > rhs ? product : rhs; }
};

/// Collective; waits.
Departure departure(const comm::Communicator& baseline, const LinearSystem& system, const ReferenceRows& reference,
                    const RowLookup& lookup, const Vector& x, const Vector& ax) {
  const auto xs = lookup(baseline, x), products = lookup(baseline, ax), rhs = lookup(baseline, system.rhs);
  std::array<double, 3> largest{};
  const auto keep = [](double& most, double difference, double size) {
    const double part = difference == 0 ? 0 : std::abs(difference) / size; // inf where there is nothing
    if (!(part <= most)) most = std::isnan(part) ? std::numeric_limits<double>::infinity() : part;
  };
  std::size_t e = 0;
  for (std::size_t r = 0; r < reference.rows.size(); ++r) {
    double sum = 0, size = 0;
    for (; e < reference.end[r]; ++e) {
      const double term = reference.values[e] * xs[reference.rows.size() + e];
      sum += term;
      size += std::abs(term);
    }
    keep(largest[0], products[r] - sum, size);
    keep(largest[1], rhs[r] - reference.rhs[r], reference.rhs_size[r]);
    largest[2] = 1;
  }
  const auto all = comm::allreduce(baseline, largest, comm::ReduceOp::max);
  return {all[0], all[1], all[2] > 0};
}

/// Collective. About the norm of M, never more: by iterations that multiply what is largest.
double norm_of(const comm::Communicator& baseline, Preconditioner& m, const Space& compute, LocalIndex own) {
  const Vector from("cg/M x", own), to("cg/M M x", own);
  Kokkos::deep_copy(to, 1);
  double largest = 0;
  for (int i = 0; i < 9; ++i) {
    const double size = norm(baseline, compute, to);
    if (i > 0) largest = std::max(largest, size);
    if (size == 0) break;
    scale(compute, from, 1 / size, to);
    m.apply(from, to);
  }
  return largest;
}

/// Collective. For a solution that is known of a matrix whose eigenvalues are not: a tenth of the least one that the
/// iteration has seen. With M it sees those of M A, which are at most |M| times those of A.
double seen_eigenvalue(const comm::Communicator& baseline, const Answer& answer, Preconditioner* m,
                       const Space& compute, LocalIndex own) {
  const double least = answer.coefficients.empty() ? 0 : ritz_values(answer.coefficients).smallest;
  return least / 10 / (m ? norm_of(baseline, *m, compute, own) : 1);
}

/// What a solution is to be compared with, root mean squares over the rows.
struct Compared {
  double error, known, residual;
  bool of_system; ///< the known solution is that of A x = b itself, and not of what that stands for
};

/// The error beside the known solution: what it may be is the sum of what the discretisation misses and what the
/// residual leaves, or what the deck says.
miniapp::Verification verify_error(const Compared& c, const ErrorBound& bound, const Options& options,
                                   const miniapp::Verification& of_residual) {
  const double left = c.residual / bound.least_eigenvalue;
  miniapp::Verification result{.measure = "error of the solution, root mean square", .error = c.error};
  const auto& given = options.verification_tolerance;
  result.tolerance = given.value_or(bound.discretisation + left);
  result.remark = fmt::format("{}; {} {:.1e}, tolerance {:.1e}", of_residual.remark, of_residual.measure,
                              of_residual.error, of_residual.tolerance);
  const double size = bound.variation > 1e-12 * c.known ? bound.variation : c.known;
  if (given) return result;
  if (c.of_system) { // and its error itself says whether it was solved, unless only iterations were wanted
    if (options.solver.tolerance > 0) result.tolerance = std::min(result.tolerance, most_of_solution * size);
    if (bound.least_eigenvalue > 0) return result;
    result.conclusive = false;
    result.remark = "no step tells the least eigenvalue: give another guess";
    return result;
  }
  if (result.tolerance <= most_of_solution * size) return result;
  result.conclusive = false;
  result.remark = fmt::format(
      "{} to verify: the solution varies by {:.3g} (root mean square), of which the discretisation may miss "
      "{:.3g} and the residual leaves up to {:.3g}, where {:.0f} % are allowed; take {}, or judge by a "
      "verification.tolerance",
      left > bound.discretisation ? "not converged enough" : "too coarse", size, bound.discretisation, left,
      100 * most_of_solution,
      left > bound.discretisation ? "more iterations or a smaller solver.tolerance" : "more elements");
  return result;
}

/// The residual beside what it must be.
miniapp::Verification verify_residual(double residual, const SolverOptions& solver, const Outcome& outcome) {
  miniapp::Verification result{.measure = "residual b - A x beside b", .error = residual};
  result.tolerance = 2 * solver.tolerance;
  if (solver.tolerance == 0) { // any residual will do, if it is the recurrence's
    result.measure = "b - A x against the residual of the recurrence, beside b";
    result.error = std::abs(residual - outcome.residual);
    result.tolerance = recurrence_tolerance;
  }
  result.remark = words(outcome);
  if (!succeeded(outcome.ending)) {
    result.measure = "solves without success";
    result.error = 1;
    result.tolerance = 0;
  } else if (outcome.iterations == 0) {
    result.conclusive = false;
    result.remark =
        fmt::format("nothing was solved: {}; {}", words(outcome.ending),
                    outcome.ending == StopReason::zero_rhs ? "give a right-hand side other than 0"
                                                           : "give another guess or a smaller solver.tolerance");
  } else if (result.tolerance > most_of_solution) {
    result.conclusive = false;
    result.remark = fmt::format("solver.tolerance is {:g}, so large that a wrong answer would pass; {:g} or "
                                "less can be verified",
                                solver.tolerance, most_of_solution / 2);
  }
  return result;
}

/// Collective. A x is that of `ax`; this and `exact` are written to.
miniapp::Verification verify_solution(const comm::Communicator& baseline, const LinearSystem& system, const Vector& ax,
                                      const Vector& exact, const Space& compute, const Options& options,
                                      const Answer& answer, Preconditioner* m, Accuracy& accuracy) {
  const auto own = system.partition.own;
  const auto& outcome = answer.outcome;
  const double root = std::sqrt(static_cast<double>(system.partition.rows));
  const double rhs = norm(baseline, compute, system.rhs);
  for_rows("cg/residual", compute, own, Difference{system.rhs, ax});
  const double residual = norm(baseline, compute, ax);
  accuracy.residual = residual / (rhs > 0 ? rhs : 1);
  double known = 0;
  if (system.exact) {
    system.exact(exact);
    known = norm(baseline, compute, exact);
    for_rows("cg/error", compute, own, Difference{answer.solution, exact});
    const double error = norm(baseline, compute, exact);
    accuracy.error = error / root;
    accuracy.relative_error = error / (known > 0 ? known : 1);
  }
  auto result = verify_residual(accuracy.residual, options.solver, outcome);
  if (result.passed() && !(std::abs(outcome.rhs - rhs) <= norm_tolerance * rhs))
    return {.measure = "|b| by the sums of the solve against that of its rows, beside it",
            .error = std::abs(outcome.rhs - rhs) / rhs,
            .tolerance = norm_tolerance,
            .remark = result.remark};
  if (!system.exact || result.failed()) return result;
  const Compared compared{*accuracy.error, known / root, residual / root, options.kind != ProblemKind::fe_heat};
  auto bound = system.error_bound.value_or(ErrorBound{});
  if (!system.error_bound && !options.verification_tolerance) {
    bound.least_eigenvalue = seen_eigenvalue(baseline, answer, m, compute, own);
    bound.discretisation = 1e-14 * (rhs / root / bound.least_eigenvalue + compared.known);
  }
  return verify_error(compared, bound, options, result);
}

/// The verdict where an operator is not symmetric, of a run that had another one so far.
miniapp::Verification not_symmetric(const std::string& which, double found, const miniapp::Verification& verified) {
  return {.measure = fmt::format("asymmetry of the {}, |x.By - y.Bx| beside |x||By| + |y||Bx|", which),
          .error = found,
          .tolerance = symmetry_tolerance,
          .remark = fmt::format("conjugate gradients need a symmetric one; {}", verified.remark)};
}

} // namespace

miniapp::Verification verify(const comm::Communicator& baseline, const LinearSystem& system,
                             const ReferenceRows& reference, const RowLookup& lookup, const Matrix& matrix,
                             const Space& compute, const Options& options, const Answer& answer,
                             Preconditioner* preconditioner, Accuracy* found) {
  const auto& partition = system.partition;
  const auto own = std::pair<LocalIndex, LocalIndex>(0, partition.own);
  const auto room = [&](int i, std::size_t size) {
    return answer.room[i].extent(0) > 0 ? answer.room[i] : Vector("cg/vector to verify with", size);
  };
  const auto all = room(0, partition.global.extent(0));
  const auto ax = room(1, static_cast<std::size_t>(partition.own));
  double seconds = 0;
  comm::Stopwatch watch;
  const double of_matrix = asymmetry(baseline, partition, compute, all, ax, [&](const Vector& v, const Vector& av) {
    matrix.multiply(compute, Part::all, v, av);
  });
  double of_preconditioner = 0;
  if (preconditioner && preconditioner->definite())
    of_preconditioner = asymmetry(baseline, partition, compute, all, ax, [&](const Vector& v, const Vector& mv) {
      preconditioner->apply(Kokkos::subview(v, own), mv);
    });
  watch.lap(seconds);

  with_ghosts(baseline, partition, answer.solution, all);
  matrix.multiply(compute, Part::all, all, ax);
  compute.fence();
  const auto of_reference = departure(baseline, system, reference, lookup, answer.solution, ax);

  Accuracy accuracy;
  auto result = verify_solution(baseline, system, ax, room(2, static_cast<std::size_t>(partition.own)), compute,
                                options, answer, preconditioner, accuracy);
  if (found) *found = accuracy;
  if (of_matrix > symmetry_tolerance || (result.passed() && std::isnan(of_matrix)))
    result = not_symmetric("matrix", of_matrix, result);
  else if (result.passed() && !(of_preconditioner <= symmetry_tolerance))
    result = not_symmetric("preconditioner", of_preconditioner, result);
  else if (succeeded(answer.outcome.ending) && !(of_reference.largest() <= reference_tolerance))
    result = {.measure = fmt::format("{} against rows that are computed by its definition",
                                     of_reference.product > reference_tolerance ? "A x" : "the right-hand side"),
              .error = of_reference.product > reference_tolerance ? of_reference.product : of_reference.rhs,
              .tolerance = reference_tolerance,
              .remark = result.remark};
  result.remark += fmt::format("; asymmetry of the matrix {:.1e}", of_matrix);
  result.more = {{"matrix_asymmetry", of_matrix}};
  if (preconditioner) {
    result.remark += fmt::format(", of the preconditioner {:.1e}", of_preconditioner);
    result.more.emplace_back("preconditioner_asymmetry", of_preconditioner);
  }
  result.more.emplace_back("symmetry_tolerance", symmetry_tolerance);
  result.more.emplace_back("symmetry_seconds", seconds);
  if (of_reference.any) {
    result.more.emplace_back("product_error", of_reference.product);
    result.more.emplace_back("right_hand_side_error", of_reference.rhs);
    result.more.emplace_back("reference_tolerance", reference_tolerance);
  }
  const auto rows = comm::allreduce(baseline, static_cast<std::int64_t>(reference.rows.size()), comm::ReduceOp::sum);
  result.judged = {"all rows by b - A x", "symmetry of the matrix",
                   rows == 0               ? "no row against its definition"
                   : rows < partition.rows ? fmt::format("{} of {} rows against the deck", rows, partition.rows)
                                           : "all rows against the deck"};
  if (system.exact) result.judged.emplace_back("error in all rows");
  return result;
}

miniapp::Verification verify_start(const comm::Communicator& comm, const ReferenceRows& reference,
                                   const std::vector<double>& found) {
  std::array<double, 2> most{};
  for (std::size_t r = 0; r < reference.rows.size(); ++r) {
    most[0] = miniapp::worst(most[0], std::abs(found[r] - reference.initial[r]));
    most[1] = std::max(most[1], std::abs(reference.initial[r]));
  }
  const auto all = comm::allreduce(comm, most, comm::ReduceOp::max);
  return {.measure = "guess of a repeat against the deck",
          .error = all[0] / (all[1] > 0 ? all[1] : 1),
          .tolerance = reference_tolerance,
          .judged = {"guess of each repeat against the deck"}};
}

miniapp::Verification verify_kernel(const comm::Communicator& comm, const LinearSystem& system, const Matrix& matrix,
                                    const Space& compute, const Vector& x, const Vector& y) {
  const auto& a = system.matrix;
  if (a.values.extent(0) == 0) return {};
  const Vector sum("cg/sum", 1);
  for_rows("cg/random", compute, static_cast<std::int64_t>(x.extent(0)), FillAtRandom{system.partition.global, x, 0});
  for (const auto part : {Part::interior, Part::boundary}) matrix.multiply_and_dot(compute, part, x, y, sum.data());
  std::int64_t different = 0;
  Kokkos::parallel_reduce("cg/textbook rows", Policy(compute, 0, system.partition.own), TextbookRow{a, x, y},
                          different);
  return {.measure = "rows of A x that differ from the textbook's loop",
          .error = static_cast<double>(comm::allreduce(comm, different, comm::ReduceOp::sum)),
          .judged = {"product against the textbook's loop, all rows, bit for bit"}};
}

std::vector<double> point_of(const Options& o, const std::vector<std::int64_t>& extents, GlobalIndex row) {
  if (o.kind == ProblemKind::matrix_market) return {};
  std::vector<double> point;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) { // x is the last of the extents
    const auto points = extents[extents.size() - 1 - axis];
    const auto number = static_cast<double>(row % points);
    row /= points;
    const auto& box = o.fe_heat;
    point.push_back(o.kind == ProblemKind::stencil ? number
                                                   : box.lower[axis] + number * (box.upper[axis] - box.lower[axis]) /
                                                                           static_cast<double>(box.elements[axis]));
  }
  return point;
}

std::vector<std::uint64_t> place_in_file(const std::vector<std::int64_t>& extents, GlobalIndex row) {
  std::vector<std::uint64_t> index(extents.size());
  for (auto axis = extents.size(); axis-- > 0; row /= extents[axis])
    index[axis] = static_cast<std::uint64_t>(row % extents[axis]);
  return index;
}

} // namespace kontor::cg
