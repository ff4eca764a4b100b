// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/merged_update.hpp"
#include "cg/team_sums.hpp"
#include "cg/vector.hpp"

#include <kontor/comm/kokkos/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Iterations of the merged method by one kernel, for problems so small that launches are most of their time.
/// Its threads stay for all of them and wait for each other twice an iteration: L. Zhang, M. Wahib, P. Chen,
/// J. Meng, X. Wang, T. Endo, S. Matsuoka, "PERKS: a locality-optimized execution model for iterative
/// memory-bound GPU applications", ICS 2023; the barrier: S. Xiao, W. Feng, "Inter-block GPU communication
/// via fast barrier synchronization", IPDPS 2010.
namespace kontor::cg {

/// Threads of a team, each of which may have a multiprocessor for itself.
inline constexpr int persistent_threads = comm::on_host<Space> ? 1 : 1024;

/// Teams of such a kernel, at most: all of them must run at once. No multiprocessor has more than 2048
/// threads, so there are no more teams than multiprocessors.
inline int most_persistent_teams() {
  return comm::on_host<Space> ? 1 : std::max(1, static_cast<int>(Space().concurrency()) / 2048);
}

/// Rows up to which launches are more than what they launch: four a thread, as measured (docs/gpu.md).
inline std::int64_t most_persistent_rows() {
  return std::int64_t{4} * most_persistent_teams() * persistent_threads;
}

/// What the teams of one such kernel after the other share: a barrier, and the parts of three sums.
class PersistentTeams {
 public:
  PersistentTeams() : arrived_("cg/arrived teams"), parts_(3, most_persistent_teams()) {}
  TeamParts::Places places() const { return parts_.places(); }

  /// Of one kernel's threads.
  struct Waiter {
    unsigned* arrived; ///< teams, at all barriers since the first kernel
    unsigned due;      ///< when this barrier is reached; it may wrap around

    /// By all threads of all teams. What they have written before, all read afterwards.
    template <class Member>
    KOKKOS_FUNCTION void wait(const Member& team) {
      team.team_barrier();
      due += static_cast<unsigned>(team.league_size());
      if (team.team_rank() == 0) {
        Kokkos::memory_fence();
        Kokkos::atomic_fetch_add(arrived, 1U);
        for (std::uint32_t polls = 0;
             static_cast<int>(*const_cast<const volatile unsigned*>(arrived) - due) < 0; ++polls)
          if (polls == most_polls)
            Kokkos::abort(
                "cg: the teams of a persistent kernel do not all run at once; solver.persistent: off "
                "does without");
        Kokkos::memory_fence();
      }
      team.team_barrier();
    }
  };
  /// Local. For a kernel of so many teams that waits so often.
  Waiter waiter(int teams, int times) {
    const Waiter waiter{arrived_.data(), due_};
    due_ += static_cast<unsigned>(teams) * static_cast<unsigned>(times);
    return waiter;
  }

 private:
  static constexpr std::uint32_t most_polls = 1U << 28; // minutes
  Kokkos::View<unsigned, Space> arrived_;
  TeamParts parts_;
  unsigned due_ = 0;
};

/// The iterations: what merged's kernels have, and how many.
struct PersistentSteps {
  MergedUpdate update;
  bool scaled;
  double* sums; ///< r.u, r.r, u.w
  std::int64_t rows;
  int steps;
  PersistentTeams* teams;
};

namespace detail {

/// The end of steps as each team works it out for itself, in its first thread: all get the same, and one of
/// them tells the host.
class OwnEndOfStep {
 public:
  KOKKOS_FUNCTION OwnEndOfStep(const EndOfStep& given, bool tells)
      : numbers_(*given.numbers),
        state_(*given.log.state), sums_{given.sums[0], given.sums[1], given.sums[2]},
        recurrences_(given.recurrences), late_(given.late), entries_(tells ? given.log.entries : nullptr) {}

  /// What the next step multiplies with. The end of the one before is written down, unless it has been.
  KOKKOS_FUNCTION StepScalars next() {
    const EndOfStep end{sums_, false, recurrences_, late_, &numbers_, {&state_, entries_}};
    const auto scalars = end.scalars();
    if (late_) end.write();
    late_ = true;
    return scalars;
  }
  KOKKOS_FUNCTION void set(const SumsOf<3>& sums) {
    for (int k = 0; k < 3; ++k) sums_[k] = sums[k];
  }
  KOKKOS_FUNCTION void leave(const EndOfStep& to, double* sums) const {
    *to.numbers = numbers_;
    *to.log.state = state_;
    for (int k = 0; k < 3; ++k) sums[k] = sums_[k];
  }

 private:
  Numbers numbers_;
  IterationState state_;
  double sums_[3];
  bool recurrences_;
  bool late_;
  LogEntry* entries_;
};

/// Bytes of scratch memory that a team needs.
inline constexpr std::size_t persistent_scratch = 2 * sizeof(StepScalars);

/// `Rows` gives a team its rows of the product: of_block(), as InTeams has it.
template <class Rows>
struct PersistentKernel {
  Rows product;
  PersistentSteps with;
  PersistentTeams::Waiter waiter;
  double* parts; ///< of the sums of teams

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto all_teams = waiter;
    auto* const shared = static_cast<StepScalars*>(team.team_shmem().get_shmem_aligned(
        static_cast<std::ptrdiff_t>(sizeof(StepScalars)), alignof(StepScalars)));
    OwnEndOfStep own(with.update.before, team.league_rank() == 0);
    for (int step = 0; step < with.steps; ++step) {
      if (team.team_rank() == 0) *shared = own.next();
      team.team_barrier();
      auto sums = updated(team, *shared);
      all_teams.wait(team); // the product reads rows of other teams
      sums[2] = product_of(team);
      leave_parts(team, sums);
      all_teams.wait(team);
      own.set(sum_of_parts(team));
    }
    if (team.league_rank() == 0 && team.team_rank() == 0) own.leave(with.update.before, with.sums);
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION SumsOf<3> updated(const Member& team, const StepScalars& scalars) const {
    SumsOf<3> sums;
    const std::int64_t threads = team.team_size(), all = team.league_size() * threads;
    for (std::int64_t i = team.league_rank() * threads + team.team_rank(); i < with.rows; i += all) {
      const auto terms = with.scaled ? with.update.row<true>(i, scalars) : with.update.row<false>(i, scalars);
      sums[0] += terms[0];
      sums[1] += terms[1];
    }
    return sums;
  }
  template <class Member>
  KOKKOS_FUNCTION double product_of(const Member& team) const {
    double part = 0;
    const auto end = static_cast<std::uint32_t>(product.range.end);
    const auto step = static_cast<std::uint32_t>(team.league_size() * product.block);
    for (auto first = static_cast<std::uint32_t>(team.league_rank() * product.block); first < end;
         first += step)
      part += product.of_block(team, nullptr, first);
    return part;
  }
  template <class Member>
  KOKKOS_FUNCTION void leave_parts(const Member& team, SumsOf<3> sums) const {
    team.team_reduce(Kokkos::Sum<SumsOf<3>>(sums));
    if (team.team_rank() == 0)
      for (int k = 0; k < 3; ++k) parts[k * team.league_size() + team.league_rank()] = sums[k];
  }
  template <class Member>
  KOKKOS_FUNCTION SumsOf<3> sum_of_parts(const Member& team) const {
    SumsOf<3> sums;
    for (int t = team.team_rank(); t < team.league_size(); t += team.team_size())
      for (int k = 0; k < 3; ++k) sums[k] += parts[k * team.league_size() + t];
    team.team_reduce(Kokkos::Sum<SumsOf<3>>(sums));
    return sums;
  }
};

} // namespace detail
} // namespace kontor::cg
