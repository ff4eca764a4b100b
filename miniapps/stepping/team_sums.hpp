// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/device.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Sums that the teams of a device's kernel make together: each leaves its part, and the one that is last adds the
/// parts up, in their order. No kernel is launched for it. A reduction by Kokkos takes twice as long as the loop that
/// it is of.
namespace kontor::stepping {

using Space = Kokkos::View<double*>::execution_space;
using Vector = Kokkos::View<double*>;
using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

/// Several sums.
template <int count>
struct PartialSums {
  double value[std::max(count, 1)];
  KOKKOS_INLINE_FUNCTION PartialSums() {
    for (auto& v : value) v = 0;
  }
  KOKKOS_INLINE_FUNCTION PartialSums& operator+=(const PartialSums& other) {
    for (int k = 0; k < count; ++k) value[k] += other.value[k];
    return *this;
  }
  KOKKOS_INLINE_FUNCTION double& operator[](int k) { return value[k]; }
  KOKKOS_INLINE_FUNCTION double operator[](int k) const { return value[k]; }
};

} // namespace kontor::stepping

namespace Kokkos {
template <int count>
struct reduction_identity<kontor::stepping::PartialSums<count>> {
  KOKKOS_FORCEINLINE_FUNCTION static kontor::stepping::PartialSums<count> sum() { return {}; }
};
} // namespace Kokkos

namespace kontor::stepping {

/// What becomes of sums: they go to the numbers that begin there. One thread does it.
template <int count>
struct StoreTo {
  double* to;
  KOKKOS_FUNCTION void operator()(const PartialSums<count>& sums) const {
    for (int k = 0; k < count; ++k) to[k] = sums[k];
  }
};

/// The teams of so many rows, or positions, in blocks: each gets equally many blocks, but for the last ones. At most so
/// many teams, because one adds up the parts of all. At least one: it has sums to tell, if only 0.
inline int teams_of(std::int64_t rows, std::int64_t block, std::int64_t most_teams) {
  const auto all = std::max<std::int64_t>((rows + block - 1) / block, 1);
  const auto each = (all + most_teams - 1) / most_teams;
  return static_cast<int>((all + each - 1) / each);
}

/// Where the teams of one kernel after the other leave their parts.
class TeamParts {
 public:
  /// For kernels.
  struct Places {
    double* parts;
    int* finished; ///< teams; 0 between kernels
  };

  TeamParts() = default;
  /// Local. Of so many sums and teams at most.
  TeamParts(int sums, int teams)
      : parts_("cg/parts of sums", static_cast<std::size_t>(sums) * static_cast<std::size_t>(teams)),
        finished_("cg/finished teams") {}
  Places places() const { return {parts_.data(), finished_.data()}; }

 private:
  Vector parts_;
  Kokkos::View<int, Space> finished_;
};

/// Threads of a team, at most, and teams that a multiprocessor runs at once, at least: kernels that wait for memory
/// want threads more than registers.
using ManyThreads = Kokkos::LaunchBounds<256, 8>;

/// The policy of teams of so many threads.
template <class Bounds = ManyThreads>
auto policy_of_teams(const Space& instance, int teams, int threads, std::size_t scratch = 0) {
  Kokkos::TeamPolicy<Space, Bounds> policy(instance, teams, threads);
  if (scratch > 0) policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch)));
  return by_value_at_launch(policy);
}

namespace detail {

template <int count, class Member>
KOKKOS_INLINE_FUNCTION PartialSums<count> over_team(const Member& team, PartialSums<count> sums) {
  for (int k = 0; k < count; ++k) team.team_reduce(Kokkos::Sum<double>(sums[k]));
  return sums;
}

/// Marks the team as finished, after all that its threads have read and written. Whether it is the last.
template <class Member>
KOKKOS_INLINE_FUNCTION bool is_last(const Member& team, int* finished) {
  int before = 0;
  Kokkos::single(
      Kokkos::PerTeam(team),
      [&](int& count) {
        Kokkos::memory_fence();
        count = Kokkos::atomic_fetch_add(finished, 1);
        Kokkos::memory_fence();
      },
      before);
  return before == team.league_size() - 1;
}

} // namespace detail

/// By all threads of all teams of a kernel, after all else that they do: `last` is called by one thread with the sums
/// of what the threads give. By then all threads have read what they read. `place` is the team's in the order of
/// additions.
template <int count, class Member, class Last>
KOKKOS_INLINE_FUNCTION void add_up(const Member& team, int place, const PartialSums<count>& of_thread,
                                   const TeamParts::Places& places, const Last& last) {
  const int teams = team.league_size();
  if constexpr (count > 0) {
    const auto part = detail::over_team(team, of_thread);
    if (team.team_rank() == 0)
      for (int k = 0; k < count; ++k) places.parts[k * teams + place] = part[k];
  } else {
    team.team_barrier();
  }
  if (!detail::is_last(team, places.finished)) return;
  PartialSums<count> sums;
  if constexpr (count > 0) {
    for (int k = 0; k < count; ++k)
      for (int t = team.team_rank(); t < teams; t += team.team_size()) sums[k] += places.parts[k * teams + t];
    sums = detail::over_team(team, sums);
  }
  if (team.team_rank() == 0) {
    *places.finished = 0;
    last(sums);
  }
}

} // namespace kontor::stepping
