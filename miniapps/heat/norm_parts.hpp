// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/row.hpp"

#include <kontor/comm/kokkos_compat.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

/// The norm of a sweep on a device: each team of the sweep leaves its part, and a small kernel puts them
/// together, always in the same order, so that equal sweeps have equal norms. A reduction over all cells by
/// one kernel takes twice as long as the sweep.
namespace kontor::heat {

/// Where the norms of sweeps go in the device's memory, one after the other. The device counts them, so that
/// a sweep that is replayed finds its place as one that is launched does.
struct NormSlots {
  double* values;
  int* next; ///< the place of the next one
  int count; ///< after the last place comes the first
};

namespace detail {

/// The norm's part of the whole team, in every thread.
template <SweepNorm norm, class Member>
KOKKOS_INLINE_FUNCTION double over_team(const Member& team, double part) {
  if constexpr (norm == SweepNorm::max)
    team.team_reduce(Kokkos::Max<double>(part));
  else
    team.team_reduce(Kokkos::Sum<double>(part));
  return part;
}

template <SweepNorm norm>
struct Combine {
  const double* parts;
  std::int64_t count;
  NormSlots slots;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    double part = 0;
    for (std::int64_t p = team.team_rank(); p < count; p += team.team_size())
      part = joined<norm>(part, parts[p]);
    part = over_team<norm>(team, part);
    if (team.team_rank() > 0) return;
    const int place = *slots.next;
    slots.values[place] = part;
    *slots.next = place + 1 < slots.count ? place + 1 : 0;
  }
};

} // namespace detail

/// Local; waits for nothing. The next slot = the first `count` parts put together, all in the device's
/// memory.
template <class ExecutionSpace>
void combine(const ExecutionSpace& instance, const double* parts, std::int64_t count, SweepNorm norm,
             const NormSlots& slots) {
  const Kokkos::TeamPolicy<ExecutionSpace> policy(instance, 1, comm::on_host<ExecutionSpace> ? 1 : 1024);
  if (norm == SweepNorm::max)
    Kokkos::parallel_for("heat/norm", policy, detail::Combine<SweepNorm::max>{parts, count, slots});
  else
    Kokkos::parallel_for("heat/norm", policy,
                         detail::Combine<SweepNorm::sum_of_squares>{parts, count, slots});
}

/// Local; waits for nothing. The next norm goes to that place.
template <class ExecutionSpace>
void set_next(const ExecutionSpace& instance, const NormSlots& slots, int place) {
  int* const next = slots.next;
  Kokkos::parallel_for(
      "heat/norm slots", Kokkos::RangePolicy<ExecutionSpace>(instance, 0, 1),
      KOKKOS_LAMBDA(int) { *next = place; });
}

} // namespace kontor::heat
