// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/check/verification.hpp"

#include "heat/check/allowance.hpp"
#include "heat/check/neighbours.hpp"
#include "heat/check/places.hpp"
#include "heat/check/terms.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <utility>

namespace kontor::heat {
namespace {

using miniapp::also, miniapp::Verification;

/// Of the solution's variation: what sweeps may leave, and what a discretisation may miss.
constexpr double most_left = 0.05;
constexpr double most_missed = 0.25;

double largest_over_ranks(const comm::Communicator& comm, double value) {
  return comm::allreduce(comm, value, comm::ReduceOp::max);
}

template <class T>
grid::DeckFunction exact_after(const Domain<T>& domain, std::int64_t sweeps) {
  const auto& cells = domain.block().global;
  return grid::DeckFunction(*domain.options().exact,
                            {{"nx", cells[0]}, {"ny", cells[1]}, {"nz", cells[2]}, {"sweeps", sweeps}});
}

/// The current field beside the exact solution and the initial value, over all cells.
struct Comparison {
  double error = 0;    ///< max |u - exact|
  double distance = 0; ///< max |exact - initial|
  Range exact;
  Range initial;

  double magnitude() const { return both(exact, initial).magnitude(); }
  /// What an error must be small against: how far the exact solution varies over the cells. A constant counts as its
  /// distance from where the run began.
  double size() const {
    if (exact.width() > 16 * std::numeric_limits<double>::epsilon() * exact.magnitude()) return exact.width();
    return distance;
  }
};

constexpr auto larger_of = [](const Comparison& a, const Comparison& b) {
  return Comparison{std::max(a.error, b.error), std::max(a.distance, b.distance), both(a.exact, b.exact),
                    both(a.initial, b.initial)};
};

/// Local. That of a row of cells.
template <class T>
Comparison compare_row(const T* u, const std::vector<double>& exact, const std::vector<double>& initial) {
  const auto* const values = exact.data();
  const auto* const start = initial.data();
  const auto count = exact.size();
  const auto greater = [](double a, double b) { return a < b ? b : a; }; // by value, for vectors
  const Range none;
  double error = 0, distance = 0, low = none.smallest, high = none.largest, low_start = low, high_start = high;
#pragma omp simd reduction(max : error, distance, high, high_start) reduction(min : low, low_start)
  for (std::size_t i = 0; i < count; ++i) {
    error = greater(error, detail::size_or_infinity(u[i] - values[i]));
    distance = greater(distance, detail::size_or_infinity(values[i] - start[i]));
    low = -greater(-low, -values[i]);
    high = greater(high, values[i]);
    low_start = -greater(-low_start, -start[i]);
    high_start = greater(high_start, start[i]);
  }
  return {error, distance, {low, high}, {low_start, high_start}};
}

/// Collective. Throws config::Error.
template <class T>
Comparison compare(const comm::Communicator& comm, const Domain<T>& domain, const grid::DeckFunction& exact) {
  const auto& block = domain.block();
  const grid::DeckFunction initial(domain.options().initial);
  const auto x = grid::coordinates_along_x(block);
  std::vector<double> values(x.size()), start(x.size());
  grid::FiniteCheck finite;
  Comparison mine;
  const auto cells = domain.current_on_host();
  for (std::int64_t k = 0; k < block.extents[2]; ++k)
    for (std::int64_t j = 0; j < block.extents[1]; ++j) {
      const double y = block.coordinate(1, j), z = block.coordinate(2, k);
      exact.function.evaluate(x, y, z, domain.now(), values);
      initial.function.evaluate(x, y, z, 0, start);
      const auto row = compare_row(&cells(k, j, 0), values, start); // cells along x lie side by side
      if (row.distance > detail::largest_finite) finite(exact.expression, values, x, y, z, domain.now());
      mine = larger_of(mine, row);
    }
  finite.agree(comm);
  return comm::allreduce(comm, mine, larger_of);
}

/// What to do where sweeps to a tolerance leave more than they may, which is `allowed`.
template <class T>
std::string lower_tolerance(const Domain<T>& domain, double allowed, double rounding) {
  if (rounding >= allowed)
    return fmt::format("rounding of {} alone is {:.2g}: {}fewer cells resolve better", miniapp::name_of_scalar<T>,
                       rounding, std::is_same_v<T, float> ? "problem.precision double or " : "");
  return fmt::format("set solver.tolerance to {:.2g} or less", 0.9 * (allowed - rounding) / sweeps_remembered(domain));
}

/// Why the tolerance says nothing, or nothing if it does: an answer that is wrong would pass, too. `decayed`: `size`,
/// by which the solution varies, is less than the rounding of its start.
template <class T>
std::string doubt(const Domain<T>& domain, const Allowance& may, double size, bool decayed = false) {
  if (size == 0) return "nothing to verify: the solution is the initial value, equal in all cells";
  const double left = may.iteration + may.rounding;
  const auto share = [&](double part, double most) {
    const auto found = part <= size ? fmt::format("which is {:.3g} %", 100 * part / size) : "which is more than all";
    return fmt::format("{:.3g}, {} of the solution's variation, {:.3g}, where {:.0f} % are allowed", part, found, size,
                       100 * most);
  };
  if (!(left <= most_left * size)) {
    const auto what = "not converged enough to verify: ";
    if (!domain.fixed_sweeps())
      return fmt::format("{}solver.tolerance {:.3g} leaves an error of up to {}; {}", what, domain.tolerance(),
                         share(left, most_left), lower_tolerance(domain, most_left * size, may.rounding));
    return fmt::format("{}{} sweeps a repeat, {} in all, leave an error of up to {}; make {}", what,
                       domain.sweep_limit(), domain.sweeps(), share(left, most_left),
                       decayed ? "fewer: the field has decayed to less than the rounding of its start" : "more");
  }
  if (!(may.discretisation <= most_missed * size))
    return fmt::format("too coarse to verify: on these cells the error of the discretisation may be {}; take "
                       "more cells",
                       share(may.discretisation, most_missed));
  return {};
}

template <class T>
Verification verify_exact(const comm::Communicator& comm, const Domain<T>& domain) {
  const auto exact = exact_after(domain, domain.sweeps());
  const auto found = compare(comm, domain, exact);
  Verification result{
      .measure = "max |u - exact|", .error = found.error, .judged = {"all cells against problem.exact"}};
  if (const auto& given = domain.options().verification_tolerance) {
    result.tolerance = *given;
    return result;
  }
  const auto may = allowance(comm, domain, exact, found.magnitude(), found.distance);
  result.tolerance = may.total();
  const bool decayed = found.size() <= std::numeric_limits<T>::epsilon() * found.initial.magnitude();
  result.remark = doubt(domain, may, found.size(), decayed);
  result.conclusive = result.remark.empty();
  if (!result.conclusive) result.remark += ", or judge by a verification.tolerance";
  if (result.passed() && found.distance <= result.tolerance)
    return miniapp::inconclusive(
        fmt::format("nothing to verify: problem.initial is within {:.3g} of problem.exact, less "
                    "than the tolerance {:.3g}, so a run without sweeps would pass; give "
                    "another problem.initial",
                    found.distance, result.tolerance));
  return result;
}

/// Collective. What is judged of a field, at time t, until judged() is called for another one.
template <class T>
Judged<T> judged(const comm::Communicator& comm, Domain<T>& domain, int which, double t) {
  const auto& block = domain.block();
  const auto terms = terms_of(domain.options(), block, domain.step());
  fill_ghosts(comm, domain.options(), block, terms, domain.field(which), t);
  domain.fill_source(t);
  return {domain.field(which), domain.source(), block, terms};
}

/// Collective. Of the current field.
template <class T>
Range range_over_ranks(const comm::Communicator& comm, const Domain<T>& domain) {
  return comm::allreduce(comm, range_of(domain.field(domain.current()), domain.block()), both);
}

/// The last sweep or step, made again by other formulas.
template <class T>
Verification verify_last_sweep(const comm::Communicator& comm, Domain<T>& domain, double scale,
                               const std::optional<double>& given) {
  const auto last = domain.last_sweep();
  if (!last) return miniapp::inconclusive("no sweep was made");
  const auto before = judged(comm, domain, last->before, domain.time_after(last->sweeps));
  const auto defect = step_defect(before, domain.field(last->after));
  constexpr double rounding = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  return {.measure = "max defect of the last sweep",
          .error = largest_over_ranks(comm, defect),
          .tolerance = given.value_or(rounding * scale),
          .judged = {"the last sweep in all cells, by other formulas"}};
}

/// The norm of the last sweep, beside that of the fields before and after it.
template <class T>
Verification verify_norm(const comm::Communicator& comm, const Domain<T>& domain, double norm) {
  constexpr double of_sums = 1e-6; // whose terms may be added up in any order
  const auto last = *domain.last_sweep();
  auto found = changes(domain.block(), domain.field(last.before), domain.field(last.after));
  found[0] = largest_over_ranks(comm, found[0]);
  found[1] = std::sqrt(comm::allreduce(comm, found[1], comm::ReduceOp::sum));
  const double right = found[domain.options().norm == Norm::max ? 0 : 1];
  return {.measure = "difference of the last norm from that of the fields",
          .error = detail::size_or_infinity(norm - right),
          .tolerance = of_sums * right,
          .judged = {"the last norm"}};
}

/// Collective.
template <class T>
Range initial_range(const comm::Communicator& comm, const Domain<T>& domain) {
  grid::FiniteCheck unused; // it is finite: set_initial() has looked
  Range mine;
  const grid::DeckFunction initial(domain.options().initial);
  grid::for_each_row(domain.block(), initial, 0, unused, [&](auto, auto, const std::vector<double>& values) {
    for (const double value : values) mine.add(value);
  });
  return comm::allreduce(comm, mine, both);
}

/// Collective. Why sweeps were not enough.
template <class T>
std::string not_reached(const comm::Communicator& comm, const Domain<T>& domain, double norm) {
  const double magnitude = range_over_ranks(comm, domain).magnitude();
  const double rounding = rounding_of_sweep<T>(magnitude);
  const auto text = fmt::format("solver.tolerance {:.3g} was not reached in {} sweeps, the last norm is {:.3g}",
                                domain.tolerance(), domain.sweeps(), norm);
  if (!(domain.tolerance() < rounding)) return text;
  return fmt::format("{}; a sweep of values up to {:.3g} in {} rounds by up to {:.2g}, so set no less", text, magnitude,
                     miniapp::name_of_scalar<T>, rounding);
}

/// What another sweep would still change.
template <class T>
Verification verify_convergence(const comm::Communicator& comm, Domain<T>& domain, const Range& values) {
  const double update = largest_over_ranks(comm, largest_update(judged(comm, domain, domain.current(), domain.now())));
  const double rounding = rounding_of_sweep<T>(values.magnitude());
  Verification result{
      .measure = "max |residual| / diagonal", .error = update, .judged = {"another sweep of all cells"}};
  if (const auto& given = domain.options().verification_tolerance) {
    result.tolerance = *given;
    return result;
  }
  result.tolerance = domain.tolerance() + rounding;
  if (update <= rounding || !result.passed()) return result; // no more sweeps would better it, or it fails
  Allowance may;
  may.iteration = sweeps_remembered(domain) * update;
  double size = values.width();
  if (size <= may.iteration) size = both(values, initial_range(comm, domain)).width(); // as good as constant
  result.remark = doubt(domain, may, size);
  result.conclusive = result.remark.empty();
  return result;
}

/// Collective. Of the domain whose current field is to be judged, by a communicator of the baseline's own.
template <class T>
Verification judge(const comm::Communicator& comm, Domain<T>& domain, double norm, bool of_last_sweep,
                   std::uint64_t seed) {
  const auto& given = domain.options().verification_tolerance;
  const bool exact = domain.options().exact.has_value();
  const auto values = range_over_ranks(comm, domain);
  Verification result;
  if (exact)
    result = verify_exact(comm, domain);
  else if (domain.fixed_sweeps())
    result = verify_last_sweep(comm, domain, values.magnitude(), given);
  else
    result = verify_convergence(comm, domain, values);
  if (!result.passed()) return result;
  if (verify_formula(domain, domain.options().initial, 0, domain.current_on_host(), seed, "").error == 0)
    return miniapp::inconclusive(
        "nothing to verify: u ends as problem.initial, so a run without sweeps would pass; give "
        "a problem.initial, problem.source or problem.boundary that lets it change");
  const auto last = domain.last_sweep();
  if (exact && last) also(result, [&] { return verify_last_sweep(comm, domain, values.magnitude(), std::nullopt); });
  const double t = last ? domain.time_after(last->sweeps) : domain.now();
  domain.fill_source(t);
  also(result, [&] { return verify_source(domain, t, seed); });
  if (of_last_sweep && last && last->after == domain.current())
    also(result, [&] { return verify_norm(comm, domain, norm); });
  return result;
}

} // namespace

template <class T>
Verification verify(Domain<T>& domain, double norm, bool of_last_sweep, std::uint64_t seed) {
  const device::Region region("heat/verify");
  const comm::Communicator baseline(domain.comm().native(), comm::Options{});
  auto result = judge(baseline, domain, norm, of_last_sweep, seed);
  domain.refill_boundaries(0, domain.now()); // ghosts that fill_ghosts() gave another meaning
  domain.refill_boundaries(1, domain.now());
  if (!domain.fixed_sweeps() && result.remark.empty() && !(norm < domain.tolerance()))
    result.remark = not_reached(baseline, domain, norm);
  return result;
}

template <class T>
void probe_exact(const Domain<T>& domain) {
  if (!domain.options().exact) return;
  const auto exact = exact_after(domain, domain.sweep_limit());
  if (!domain.fixed_sweeps() && exact.function.uses("sweeps")) return; // nobody knows yet how many
  const auto& block = domain.block();
  const auto x = grid::coordinates_along_x(block);
  std::vector<double> values(x.size());
  grid::FiniteCheck finite;
  for (const auto k : {std::int64_t{0}, block.extents[2] / 2, block.extents[2] - 1})
    for (const auto j : {std::int64_t{0}, block.extents[1] / 2, block.extents[1] - 1})
      exact.evaluate(x, block.coordinate(1, j), block.coordinate(2, k),
                     domain.time_after(domain.transient() ? domain.sweep_limit() : 0), values, finite);
  finite.agree(domain.comm());
}

template Verification verify(Domain<float>&, double, bool, std::uint64_t);
template Verification verify(Domain<double>&, double, bool, std::uint64_t);
template void probe_exact(const Domain<float>&);
template void probe_exact(const Domain<double>&);

} // namespace kontor::heat
