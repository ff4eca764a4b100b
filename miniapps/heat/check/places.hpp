// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/functions.hpp"
#include "heat/problem/domain.hpp"
#include "run/verify/counts.hpp"
#include "stencil/samples.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

/// The fields of a run at a sample of places, and its sweeps, against the deck.
namespace kontor::heat {

/// The steps that the deck wants: those of time, or the sweeps that it fixes; none if a tolerance ends them. Nothing of
/// what the run makes of the deck is used.
inline std::optional<std::int64_t> sweeps_of_deck(const Options& o) {
  if (o.equation == Equation::steady) return o.tolerance == 0 ? std::optional(o.max_sweeps) : std::nullopt;
  double longest = 0; // stable: 0.9 h^2 / (2 alpha), h^-2 the sum over axes
  for (std::size_t axis = 0; axis < o.cells.size(); ++axis) {
    const double upper = axis < o.upper.size() ? o.upper[axis] : 1, lower = axis < o.lower.size() ? o.lower[axis] : 0;
    longest += std::pow(static_cast<double>(o.cells[axis]) / (upper - lower), 2);
  }
  const double step = o.time_step.value_or(0.9 / (2 * o.diffusivity * longest));
  const double steps = o.end_time / step;
  const double nearest = std::round(steps);
  constexpr double rounding = 1e-6;
  return static_cast<std::int64_t>(std::abs(steps - nearest) < rounding ? std::max(1.0, nearest) : std::ceil(steps));
}

/// What the first figure counts of so many sweeps: updates of cells.
inline double work_of_deck(const Options& o, std::int64_t sweeps) {
  double work = static_cast<double>(sweeps);
  for (const auto cells : o.cells) work *= static_cast<double>(cells);
  return work;
}

/// Local. The centre of a cell from the deck's numbers.
inline std::array<double, 3> centre_of(const Options& o, const Block& block, const miniapp::Place& place) {
  std::array<double, 3> centre{};
  for (std::size_t axis = 0; axis < o.cells.size(); ++axis) {
    const double lower = axis < o.lower.size() ? o.lower[axis] : 0, upper = axis < o.upper.size() ? o.upper[axis] : 1;
    centre[axis] = lower + (static_cast<double>(block.offset[axis] + place.index[axis]) + 0.5) * (upper - lower) /
                               static_cast<double>(o.cells[axis]);
  }
  return centre;
}

/// Collective. Values (k, j, i) of own cells against a formula of the deck at time t, at the sampled cells; none are
/// not compared. So are their coordinates.
template <class T, class Values>
miniapp::Verification verify_formula(const Domain<T>& domain, const config::Expression& formula, double t,
                                     const Values& values, std::uint64_t seed, const char* key) {
  const auto& block = domain.block();
  const config::Function function(formula);
  const auto places = stencil::sampled_places(block, seed, domain.comm().rank());
  std::vector<std::array<double, 2>> pairs; // of the run, and of the deck
  double size = 0;
  std::array<double, 2> found{0, static_cast<double>(places.size())};
  for (const auto& place : places) {
    const auto [x, y, z] = centre_of(domain.options(), block, place);
    const double value = function(x, y, z, t);
    size = std::max(size, std::abs(value));
    pairs.push_back({static_cast<double>(values(place.index[2], place.index[1], place.index[0])), value});
    for (const int axis : {0, 1, 2}) {
      const double has = block.coordinate(axis, place.index[axis]), wanted = axis == 0 ? x : axis == 1 ? y : z;
      if (std::abs(has - wanted) > 1e-9 * block.spacing[axis] + 1e-14 * std::abs(wanted)) found[0] += 1;
    }
  }
  const double rounding = 256 * std::numeric_limits<T>::epsilon() * size; // of places, too
  for (const auto& [has, wanted] : pairs) found[0] += std::abs(has - wanted) <= rounding ? 0 : 1;
  const auto all = comm::allreduce(domain.comm(), found, comm::ReduceOp::sum);
  return {.measure = fmt::format("cells in which a value or place is not that of {}", key),
          .error = all[0],
          .judged = {fmt::format("{} in {:.0f} cells", key, all[1])}};
}

/// Collective. The start of a repeat, at sweep 0.
template <class T>
miniapp::Verification verify_start(const Domain<T>& domain, std::uint64_t seed) {
  auto result = verify_formula(domain, domain.options().initial, 0, domain.current_on_host(), seed, "problem.initial");
  result.error += static_cast<double>(domain.sweeps());
  return result;
}

/// Collective; waits. The source of the last sweep.
template <class T>
miniapp::Verification verify_source(const Domain<T>& domain, double t, std::uint64_t seed) {
  const auto source = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), domain.source());
  const auto value = [&](auto k, auto j, auto i) { return source.size() > 0 ? source(k, j, i) : T(0); };
  return verify_formula(domain, domain.options().source, t, value, seed, "problem.source");
}

/// Local. The current field at the sampled cells, in a dataset.
template <class T>
std::vector<miniapp::FileValue> values_of_file(const Domain<T>& domain, std::uint64_t seed,
                                               const std::string& dataset) {
  const auto& block = domain.block();
  return stencil::file_values(dataset, block, stencil::sampled_places(block, seed, domain.comm().rank()),
                              domain.current_on_host(),
                              [&](const miniapp::Place& place) { return centre_of(domain.options(), block, place); });
}

} // namespace kontor::heat
