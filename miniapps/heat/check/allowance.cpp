// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/check/allowance.hpp"

#include "heat/check/decay.hpp"
#include "heat/check/truncation.hpp"

#include <kontor/comm/collectives.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace kontor::heat {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// dt, or that of which a Jacobi sweep is a step: 1/d of the inner cells.
template <class T>
double step_of(const Domain<T>& domain) {
  return domain.transient() ? domain.step() : domain.options().stable_step();
}

/// From the initial value to the field, in steps of that.
template <class T>
double time_of(const Domain<T>& domain) {
  return domain.fixed_sweeps() ? step_of(domain) * static_cast<double>(domain.sweeps()) : infinity;
}

/// Collective. The truncation at `count` times, evenly from now back to the start.
template <class T>
std::vector<Truncation> truncations(const comm::Communicator& comm, const Domain<T>& domain,
                                    const grid::DeckFunction& exact, int count) {
  const std::int64_t most = domain.block().dimensions == 2 ? (count == 1 ? 256 : 64) : (count == 1 ? 48 : 16);
  std::vector<Truncation> all(count);
  for (int n = 0; n < count; ++n) {
    const double t = count == 1 ? 0 : domain.now() * (count - 1 - n) / (count - 1);
    all[n] = truncation(domain.options(), domain.block(), exact, std::min(t, domain.now() - domain.step()),
                        domain.step(), most);
  }
  for (auto& one : all) one = comm::allreduce(comm, one, larger);
  return all;
}

/// What the truncation since the start adds up to: each part at each time by how much of it is left.
template <class T>
double discretisation(const comm::Communicator& comm, const Domain<T>& domain, const grid::DeckFunction& exact) {
  const int intervals = domain.transient() ? 16 : 1;
  const auto parts = truncations(comm, domain, exact, domain.transient() ? intervals + 1 : 1);
  const Decay decay(domain.options());
  const double time = time_of(domain);
  double sum = 0;
  double held = 0; // the largest of the Dirichlet cells up to an age
  for (int n = 0; n < intervals; ++n) {
    const double age[] = {n == 0 ? 0 : time * n / intervals, n == intervals - 1 ? time : time * (n + 1) / intervals};
    const auto& younger = parts[n];
    const auto& older = parts[std::min<std::size_t>(n + 1, parts.size() - 1)];
    const double integral[] = {decay.integral(age[0]), decay.integral(age[1])};
    const double whole = integral[1] - integral[0];
    sum += std::max(younger.inner, older.inner) * whole;
    held = std::max({held, younger.dirichlet, older.dirichlet});
    sum += held * (decay(age[0]) - decay(age[1]));
    const double spread = 2 * (std::sqrt(integral[1]) - std::sqrt(integral[0])) /
                          std::sqrt(std::numbers::pi * domain.options().diffusivity);
    for (int face = 0; face < 2 * domain.block().dimensions; ++face) {
      const double h = domain.block().spacing[face / 2];
      const double cells = static_cast<double>(domain.block().global[face / 2]);
      sum += std::max(younger.neumann[face], older.neumann[face]) * (whole / cells + h * spread);
    }
  }
  return sum + held * decay(time);
}

} // namespace

template <class T>
double sweeps_remembered(const Domain<T>& domain) {
  return Decay(domain.options()).integral(time_of(domain)) / step_of(domain);
}

template <class T>
Allowance allowance(const comm::Communicator& comm, const Domain<T>& domain, const grid::DeckFunction& exact,
                    double magnitude, double distance) {
  const double sweeps = sweeps_remembered(domain);
  Allowance result;
  result.rounding = (sweeps + 1) * rounding_of_sweep<T>(magnitude);
  if (exact.function.uses("sweeps")) return result; // it is the solution of the cells' own equations
  result.discretisation = discretisation(comm, domain, exact);
  if (!domain.fixed_sweeps())
    result.iteration = sweeps * domain.tolerance();
  else if (!domain.transient())
    result.iteration = Decay(domain.options())(time_of(domain)) * distance;
  return result;
}

template <class T>
double rounding_of_sweep(double magnitude) {
  return 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * magnitude;
}

template double sweeps_remembered(const Domain<float>&);
template double sweeps_remembered(const Domain<double>&);
template Allowance allowance(const comm::Communicator&, const Domain<float>&, const grid::DeckFunction&, double,
                             double);
template Allowance allowance(const comm::Communicator&, const Domain<double>&, const grid::DeckFunction&, double,
                             double);
template double rounding_of_sweep<float>(double);
template double rounding_of_sweep<double>(double);

} // namespace kontor::heat
