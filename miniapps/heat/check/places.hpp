// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/functions.hpp"
#include "heat/problem/domain.hpp"
#include "run/verify/counts.hpp"
#include "run/verify/places.hpp"
#include "run/verify/read_back.hpp"

#include <fmt/format.h>

/// The fields of a run at a sample of places, and its sweeps, against the deck.
namespace kontor::heat {

/// Local. The cells of this rank that are looked at.
inline std::vector<miniapp::Place> sampled_cells(const Block& block, std::uint64_t seed, int rank) {
  miniapp::IndexBox box;
  for (int axis = 0; axis < 3; ++axis) {
    box.global[axis] = block.global[axis];
    box.offset[axis] = block.offset[axis];
    box.extents[axis] = block.extents[axis];
  }
  auto random = miniapp::generator_of(seed, rank);
  constexpr int others = 32;
  return miniapp::sample_places(box, others, random);
}

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

/// Collective. The initial value at the sampled cells: the field at sweep 0, whose cells have the deck's number.
template <class T>
miniapp::Verification verify_start(const Domain<T>& domain, std::uint64_t seed) {
  const auto& block = domain.block();
  const auto& options = domain.options();
  const config::Function initial(options.initial);
  const auto cells = domain.current_on_host();
  const auto places = sampled_cells(block, seed, domain.comm().rank());
  std::vector<std::array<double, 2>> pairs; // of the field, and of the deck
  double size = 0;
  for (const auto& place : places) {
    std::array<double, 3> at{};
    for (std::size_t axis = 0; axis < options.cells.size(); ++axis) {
      const double lower = axis < options.lower.size() ? options.lower[axis] : 0,
                   upper = axis < options.upper.size() ? options.upper[axis] : 1;
      at[axis] = lower + (static_cast<double>(block.offset[axis] + place.index[axis]) + 0.5) * (upper - lower) /
                             static_cast<double>(options.cells[axis]);
    }
    const std::array x{at[0]};
    std::array<double, 1> value{};
    initial.evaluate(x, at[1], at[2], 0, value);
    pairs.push_back({static_cast<double>(cells(place.index[2], place.index[1], place.index[0])), value[0]});
    size = std::max(size, std::abs(value[0]));
  }
  std::array<double, 3> found{0, static_cast<double>(places.size()), static_cast<double>(domain.sweeps())};
  const double rounding = 256 * std::numeric_limits<T>::epsilon() * size; // of places, too
  for (const auto& [has, wanted] : pairs) found[0] += std::abs(has - wanted) <= rounding ? 0 : 1;
  const auto all = comm::allreduce(domain.comm(), found, comm::ReduceOp::sum);
  return {.measure = "cells that do not begin at problem.initial",
          .error = all[0] + all[2],
          .judged = {fmt::format("start of repeats against the deck in {:.0f} cells", all[1])}};
}

/// Local. The current field at the sampled cells, in a dataset.
template <class T>
std::vector<miniapp::FileValue> values_of_file(const Domain<T>& domain, std::uint64_t seed,
                                               const std::string& dataset) {
  const auto& block = domain.block();
  const auto cells = domain.current_on_host();
  std::vector<miniapp::FileValue> result;
  for (const auto& place : sampled_cells(block, seed, domain.comm().rank())) {
    miniapp::FileValue value{dataset, {}, static_cast<double>(cells(place.index[2], place.index[1], place.index[0]))};
    for (int axis = block.dimensions - 1; axis >= 0; --axis)
      value.index.push_back(static_cast<std::uint64_t>(block.offset[axis] + place.index[axis]));
    result.push_back(std::move(value));
  }
  return result;
}

} // namespace kontor::heat
