// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/check/allowance.hpp"

#include "heat/check/decay.hpp"
#include "heat/check/terms.hpp"

#include <kontor/comm/collectives.hpp>

#include <numbers>
#include <numeric>

namespace kontor::heat {
namespace {

using Values = std::vector<double>;

/// Up to `most` of the indices below n, evenly, the first and the last among them.
std::vector<std::int64_t> some_of(std::int64_t n, std::int64_t most) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(n, most)));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  if (n > most)
    for (auto& index : indices) index = index * (n - 1) / (most - 1);
  return indices;
}

/// The cells looked at in row (j, k), and the solution near them.
struct Cells {
  const Options& options;
  const Block& block;
  const grid::DeckFunction& exact;
  std::vector<std::int64_t> i;
  std::int64_t j = 0;
  std::int64_t k = 0;

  std::int64_t own(int axis, std::size_t n) const { return axis == 0 ? i[n] : axis == 1 ? j : k; }

  bool has(int face, Condition condition) const { return options.faces[face].condition == condition; }

  /// Whether a cell touches this face of the domain, and the face is not periodic.
  bool touches(int face, std::size_t n) const {
    const int axis = face / 2;
    const auto index = block.offset[axis] + own(axis, n);
    return index == (face % 2 == 0 ? 0 : block.global[axis] - 1) && !has(face, Condition::periodic);
  }

  /// `cells` from the centre along the axis. A whole cell leads to the neighbour's centre, round a periodic axis, and
  /// stays where there is no neighbour; less than one leads no farther than to the face.
  double coordinate(int axis, std::size_t n, double cells) const {
    auto index = own(axis, n);
    if (cells * cells == 1) {
      const auto last = block.global[axis] - 1;
      auto neighbour = block.offset[axis] + index + static_cast<std::int64_t>(cells);
      const bool round = has(2 * axis, Condition::periodic);
      if (neighbour < 0) neighbour = round ? last : 0;
      if (neighbour > last) neighbour = round ? 0 : last;
      index = neighbour - block.offset[axis];
      cells = 0;
    }
    return block.coordinate(axis, index) + cells * block.spacing[axis];
  }

  /// The solution in the centres, or `cells` from them along an axis.
  Values values(double t, int along = 0, double cells = 0) const {
    const auto at = [&](int axis, std::size_t n) { return coordinate(axis, n, axis == along ? cells : 0); };
    Values x(i.size()), result(i.size());
    for (std::size_t n = 0; n < i.size(); ++n) x[n] = at(0, n);
    exact.function.evaluate(x, at(1, 0), at(2, 0), t, result);
    return result;
  }
};

/// Adds what the formula of an axis, c times differences, misses of the second derivative. That is taken from
/// differences over half and over quarter of a cell, to fourth order; on an axis of few cells also over an eighth, to
/// sixth order, which rounding would spoil where there are many. What lies beyond a boundary face follows from the
/// solution's own value or slope there. By how much the two orders differ is added to `doubt`.
void add_space(const Cells& cells, int axis, double t, const Values& u, Values& sum, Values& doubt) {
  const double c = cells.options.diffusivity / (cells.block.spacing[axis] * cells.block.spacing[axis]);
  const std::array<int, 2> faces{2 * axis, 2 * axis + 1};
  const bool few = cells.block.global[axis] <= 32;
  std::array<Values, 2> on_face, beyond, near, nearest; // below and above
  for (const int side : {0, 1}) {
    const double sign = side == 0 ? -1 : 1;
    on_face[side] = cells.values(t, axis, sign / 2);
    beyond[side] = cells.values(t, axis, sign);
    near[side] = cells.values(t, axis, sign / 4);
    if (few) nearest[side] = cells.values(t, axis, sign / 8);
  }
  for (std::size_t n = 0; n < u.size(); ++n) {
    double formula = 0;
    for (const int side : {0, 1}) {
      if (!cells.touches(faces[side], n)) {
        formula += beyond[side][n] - u[n];
        continue;
      }
      formula += cells.has(faces[side], Condition::dirichlet)
                     ? 2 * (on_face[side][n] - u[n])
                     : 4 * (11.0 / 6 * on_face[side][n] - 3 * near[side][n] + 1.5 * u[n] -
                            near[1 - side][n] / 3); // h times the outward slope, to third order
    }
    const double half = 4 * ((on_face[0][n] - u[n]) + (on_face[1][n] - u[n]));
    const double quarter = 16 * ((near[0][n] - u[n]) + (near[1][n] - u[n]));
    const double eighth = few ? 64 * ((nearest[0][n] - u[n]) + (nearest[1][n] - u[n])) : 0;
    const double fourth = (4 * quarter - half) / 3, sixth = (64 * eighth - 20 * quarter + half) / 45;
    sum[n] += c * (formula - (few ? sixth : fourth));
    if (few) doubt[n] += c * std::abs(sixth - fourth);
  }
}

/// What a step of explicit Euler misses: twice the difference of a step from two of half the length.
void add_time(const Cells& cells, double t, double step, const Values& u, Values& sum) {
  const auto middle = cells.values(t + step / 2);
  const auto end = cells.values(t + step);
  for (std::size_t n = 0; n < u.size(); ++n) sum[n] -= 2 * ((end[n] - middle[n]) - (middle[n] - u[n])) / step;
}

void take_in(const Cells& cells, const Values& missed, const Values& doubt, Truncation& largest) {
  for (std::size_t n = 0; n < missed.size(); ++n) {
    const double size = detail::size_or_infinity(std::abs(missed[n]) + doubt[n]);
    double* place = &largest.inner;
    double held = 0; // what Dirichlet faces add to the diagonal beyond the neighbours' weights
    for (int face = 0; face < 2 * cells.block.dimensions; ++face) {
      if (!cells.touches(face, n)) continue;
      const double h = cells.block.spacing[face / 2];
      if (cells.has(face, Condition::dirichlet))
        held += 2 * cells.options.diffusivity / (h * h);
      else
        place = &largest.neumann[face];
    }
    if (held > 0) place = &largest.dirichlet;
    *place = std::max(*place, held > 0 ? size / held : size);
  }
}

} // namespace

Truncation truncation(const Options& options, const Block& block, const grid::DeckFunction& exact, double t,
                      double step, std::int64_t most) {
  Truncation largest;
  Cells cells{options, block, exact, some_of(block.extents[0], most)};
  for (const auto k : some_of(block.extents[2], most)) {
    for (const auto j : some_of(block.extents[1], most)) {
      cells.j = j;
      cells.k = k;
      const auto u = cells.values(t);
      Values missed(u.size()), doubt(u.size());
      for (int axis = 0; axis < block.dimensions; ++axis) add_space(cells, axis, t, u, missed, doubt);
      if (step > 0) add_time(cells, t, step, u, missed);
      take_in(cells, missed, doubt, largest);
    }
  }
  return largest;
}

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
