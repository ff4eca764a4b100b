// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/verification.hpp"

#include "heat/check.hpp"
#include "heat/halo.hpp"
#include "heat/wrap.hpp"

#include <kontor/comm/collectives.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kontor::heat {
namespace {

double largest_over_ranks(const comm::Communicator& comm, double value) {
  return comm::allreduce(comm, value, comm::ReduceOp::max);
}

/// What a right answer may differ by from an exact solution that the cells resolve: the discretisation's
/// error, what sweeps have not yet removed, and rounding. README.md derives it.
template <class T>
double default_tolerance(const Domain<T>& domain, double largest_exact) {
  const auto& block = domain.block();
  const auto& options = domain.options();
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  double resolution = 0;
  double contraction = 0;
  double weights = 0;
  for (int axis = 0; axis < block.dimensions; ++axis) {
    const double n = static_cast<double>(block.global[axis]);
    const auto is_dirichlet = [&](int face) {
      return options.faces[face].condition == Condition::dirichlet ? 1 : 0;
    };
    const int pinned = is_dirichlet(2 * axis) + is_dirichlet(2 * axis + 1);
    const double angle = pinned * std::acos(-1.0) / (2 * n);
    resolution += 1 / (n * n);
    contraction += domain.stencil().c[axis] * (1 - std::cos(angle));
    weights += domain.stencil().c[axis];
  }
  const double discretisation = 10 * resolution * largest_exact;
  if (domain.fixed_sweeps())
    return discretisation + static_cast<double>(domain.sweeps()) * epsilon * largest_exact;
  return discretisation + (options.tolerance + epsilon * largest_exact) * weights / contraction;
}

template <class T>
miniapp::Verification verify_exact(Domain<T>& domain) {
  const auto& block = domain.block();
  const DeckFunction exact(domain.options().where("problem.exact"), *domain.options().exact,
                           {{"nx", block.global[0]},
                            {"ny", block.global[1]},
                            {"nz", block.global[2]},
                            {"sweeps", domain.sweeps()}});
  FiniteCheck finite;
  const auto cells = domain.current_on_host();
  double error = 0;
  double largest = 0;
  for_each_row(block, exact, domain.now(), finite,
               [&](std::int64_t j, std::int64_t k, const std::vector<double>& values) {
                 for (std::size_t i = 0; i < values.size(); ++i) {
                   error = std::max(error, detail::size_or_infinity(cells(k, j, i) - values[i]));
                   largest = std::max(largest, std::abs(values[i]));
                 }
               });
  finite.agree(domain.comm());
  error = largest_over_ranks(domain.comm(), error);
  largest = largest_over_ranks(domain.comm(), largest);
  return {"max |u - exact|", error,
          domain.options().verification_tolerance.value_or(default_tolerance(domain, largest))};
}

/// Ghost cells of the field that is judged are filled anew, by the baseline backend whatever the run used.
template <class T>
void refill_ghosts(Domain<T>& domain, int which, double t) {
  const comm::Communicator baseline(domain.comm().native(), comm::Options{});
  auto halo = make_halo(baseline, domain.block(), domain.field(which), "heat/halo for verification");
  wrap(typename FieldView<T>::execution_space(), domain.field(which), domain.block());
  halo.start();
  halo.finish();
  domain.refill_boundaries(which, t);
  domain.refill_source(t);
}

/// The last sweep or step, made again by other formulas.
template <class T>
miniapp::Verification verify_last_sweep(Domain<T>& domain) {
  const int before = 1 - domain.current();
  refill_ghosts(domain, before, domain.time_after(domain.sweeps() - 1));
  const auto defect = step_defect(domain.input(before), domain.field(domain.current()));
  const double scale = largest_over_ranks(domain.comm(), defect.scale);
  constexpr double rounding = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  return {"max defect of the last sweep", largest_over_ranks(domain.comm(), defect.largest),
          domain.options().verification_tolerance.value_or(rounding * scale)};
}

/// What another sweep would still change.
template <class T>
miniapp::Verification verify_convergence(Domain<T>& domain) {
  refill_ghosts(domain, domain.current(), domain.now());
  const double left = largest_over_ranks(domain.comm(), largest_update(domain.input(domain.current())));
  return {"max |residual| / diagonal", left,
          domain.options().verification_tolerance.value_or(domain.options().tolerance)};
}

} // namespace

template <class T>
miniapp::Verification verify(Domain<T>& domain) {
  const comm::Region region("heat/verify");
  if (domain.options().exact) return verify_exact(domain);
  return domain.fixed_sweeps() ? verify_last_sweep(domain) : verify_convergence(domain);
}

template miniapp::Verification verify(Domain<float>&);
template miniapp::Verification verify(Domain<double>&);

} // namespace kontor::heat
