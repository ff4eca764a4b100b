// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/norm.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/sums/accumulator.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

/// The norm of a step on a device: its kernel leaves parts, and small kernels put them together, always in the same
/// order, so that equal steps have equal norms. A reduction over all values by one kernel takes twice as long as a
/// sweep of a stencil.
namespace kontor::stepping {

/// Where the parts of steps' norms go in the device's memory, one after the other. The device counts them, so that a
/// step that is replayed finds its place as one that is launched does.
struct NormSlots {
  double* values;
  int* next;                            ///< the place of the next one
  int count;                            ///< after the last place comes the first
  std::int64_t* accumulators = nullptr; ///< instead of `values`, of exact sums: exact::length numbers a place

  KOKKOS_INLINE_FUNCTION void advance() const { *next = *next + 1 < count ? *next + 1 : 0; }
};

/// The norm of part_of(lane) over the lanes of one thread of the team.
template <Norm norm, class Member, class PartOf>
KOKKOS_INLINE_FUNCTION double over_lanes(const Member& team, int lanes, const PartOf& part_of) {
  double part = 0;
  const auto range = Kokkos::ThreadVectorRange(team, lanes);
  const auto join = [&](int lane, double& sum) { sum = joined<norm>(sum, part_of(lane)); };
  if constexpr (norm == Norm::max)
    Kokkos::parallel_reduce(range, join, Kokkos::Max<double>(part));
  else
    Kokkos::parallel_reduce(range, join, Kokkos::Sum<double>(part));
  return part;
}

namespace detail {

/// The norm's part of the whole team, in every thread.
template <Norm norm, class Member>
KOKKOS_INLINE_FUNCTION double over_team(const Member& team, double part) {
  if constexpr (norm == Norm::max)
    team.team_reduce(Kokkos::Max<double>(part));
  else
    team.team_reduce(Kokkos::Sum<double>(part));
  return part;
}

/// parts[0], [stride], [2 stride] ... up to `count`, put together.
template <Norm norm, class Member>
KOKKOS_INLINE_FUNCTION double together(const Member& team, const double* parts, std::int64_t count,
                                       std::int64_t stride) {
  double part = 0;
  for (std::int64_t p = team.team_rank() * stride; p < count; p += team.team_size() * stride)
    part = joined<norm>(part, parts[p]);
  return over_team<norm>(team, part);
}

/// Each team puts the parts of its share together, into the first of them.
template <Norm norm>
struct Fold {
  double* parts;
  std::int64_t count;
  std::int64_t share;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto first = team.league_rank() * share;
    const auto end = first + share < count ? first + share : count;
    const double part = together<norm>(team, parts + first, end - first, 1);
    if (team.team_rank() == 0) parts[first] = part;
  }
};

template <Norm norm>
struct Combine {
  const double* parts;
  std::int64_t count;
  std::int64_t stride;
  NormSlots slots;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const double part = together<norm>(team, parts, count, stride);
    if (team.team_rank() > 0) return;
    slots.values[*slots.next] = part;
    slots.advance();
  }
};

/// The next slot = an accumulator.
struct Leave {
  const std::int64_t* accumulator;
  NormSlots slots;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t* const from = accumulator;
    std::int64_t* const to = slots.accumulators + std::int64_t{*slots.next} * sums::length;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, sums::length), [=](int digit) { to[digit] = from[digit]; });
    team.team_barrier();
    if (team.team_rank() == 0) slots.advance();
  }
};

template <Norm norm, class ExecutionSpace>
void combine(const ExecutionSpace& instance, double* parts, std::int64_t count, const NormSlots& slots) {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  constexpr bool on_host = device::on_host<ExecutionSpace>;
  constexpr std::int64_t most = 16384; // that a single team puts together in the time of another launch
  constexpr std::int64_t share = 2048;
  const bool folds = count > most;
  const auto values = folds ? (count + share - 1) / share : count;
  if (folds)
    Kokkos::parallel_for("stepping/norm", Policy(instance, static_cast<int>(values), on_host ? 1 : 256),
                         Fold<norm>{parts, count, share});
  const int team = on_host ? 1 : values > 256 ? 1024 : 128;
  Kokkos::parallel_for("stepping/norm", Policy(instance, 1, team),
                       Combine<norm>{parts, count, folds ? share : 1, slots});
}

} // namespace detail

/// Local; waits for nothing. The next slot = the first `count` parts put together, all in the device's memory. The
/// parts are used up.
template <class ExecutionSpace>
void combine(const ExecutionSpace& instance, double* parts, std::int64_t count, Norm norm, const NormSlots& slots) {
  if (norm == Norm::max)
    detail::combine<Norm::max>(instance, parts, count, slots);
  else
    detail::combine<Norm::l2>(instance, parts, count, slots);
}

/// Local; waits for nothing. The next slot = an accumulator in the device's memory.
template <class ExecutionSpace>
void leave(const ExecutionSpace& instance, const std::int64_t* accumulator, const NormSlots& slots) {
  Kokkos::parallel_for("stepping/norm",
                       Kokkos::TeamPolicy<ExecutionSpace>(instance, 1, device::on_host<ExecutionSpace> ? 1 : 64),
                       detail::Leave{accumulator, slots});
}

} // namespace kontor::stepping
