// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/norm_parts.hpp"

namespace kontor::stepping {

namespace detail {

/// A team a norm.
template <Norm norm>
struct CombineEach {
  const double* parts;
  int count;
  NormSlots slots;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const double part = together<norm>(team, parts + std::int64_t{team.league_rank()} * count, count, 1);
    if (team.team_rank() == 0) slots.values[(*slots.next + team.league_rank()) % slots.count] = part;
  }
};

} // namespace detail

/// Local; waits for nothing. The next slots = so many norms, at most as many as there
/// are slots, each of `count` parts put together.
template <class ExecutionSpace>
void combine_each(const ExecutionSpace& instance, const double* parts, int norms, int count, Norm norm,
                  const NormSlots& slots) {
  const Kokkos::TeamPolicy<ExecutionSpace> policy(instance, norms, device::on_host<ExecutionSpace> ? 1 : 128);
  if (norm == Norm::max)
    Kokkos::parallel_for("stepping/norm", policy, detail::CombineEach<Norm::max>{parts, count, slots});
  else
    Kokkos::parallel_for("stepping/norm", policy, detail::CombineEach<Norm::l2>{parts, count, slots});
  Kokkos::parallel_for(
      "stepping/norm slots", Kokkos::RangePolicy<ExecutionSpace>(instance, 0, 1),
      KOKKOS_LAMBDA(int) { *slots.next = (*slots.next + norms) % slots.count; });
}

} // namespace kontor::stepping
