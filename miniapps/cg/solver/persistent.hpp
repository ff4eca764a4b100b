// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "cg/solver/one_sum.hpp"
#include "cg/solver/peers.hpp"
#include "stepping/team_sums.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/lanes.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

/// Iterations of the merged method by one kernel, for problems so small that launches are most of their time. Its
/// threads stay for all of them and wait for each other twice an iteration, and for the kernels of other ranks: L.
/// Zhang, M. Wahib, P. Chen, J. Meng, X. Wang, T. Endo, S. Matsuoka, "PERKS: a locality-optimized execution model for
/// iterative memory-bound GPU applications", ICS 2023; the barrier: S. Xiao, W. Feng, "Inter-block GPU communication
/// via fast barrier synchronization", IPDPS 2010.
namespace kontor::cg {

/// Threads of a team, each of which may have a multiprocessor for itself.
inline constexpr int persistent_threads = device::kernels_on_host ? 1 : 1024;

/// What the teams of one such kernel after the other share: a barrier, and the parts of three sums.
class PersistentTeams {
 public:
  PersistentTeams() : arrived_("cg/arrived teams"), parts_(3, device::resident_teams()) {}
  TeamParts::Places places() const { return parts_.places(); }

  /// Of one kernel's threads.
  struct Waiter {
    unsigned* arrived; ///< teams, at all barriers since the first kernel
    unsigned due;      ///< when this barrier is reached; it may wrap around

    /// By all threads of all teams, after a barrier of the team. What they have written before, all read afterwards. A
    /// team's first thread asks whether the others have arrived; `failed` is true if it asks no longer. `sent`: other
    /// ranks read it, too.
    template <class Member>
    KOKKOS_FUNCTION void wait(const Member& team, const PeerSteps& peers, bool& failed, bool sent) {
      due += static_cast<unsigned>(team.league_size());
      if (team.team_rank() == 0) {
        if (sent) device::fence_system();
        device::add_release_on_device(*arrived, 1);
        for (std::uint32_t polls = 0; static_cast<int>(device::load_acquire_on_device(*arrived) - due) < 0; ++polls) {
          if (polls == most_polls)
            Kokkos::abort("cg: the teams of a persistent kernel do not all run at once; solver.launch: graph "
                          "does without");
          if (polls % 1024 == 1023 && peers.wait.aborted()) {
            failed = true;
            break;
          }
        }
      }
      team.team_barrier();
    }
    /// By a team that leaves so many barriers before the kernel's last one, as all teams do.
    template <class Member>
    KOKKOS_FUNCTION void leave(const Member& team, int barriers) const {
      if (team.team_rank() == 0) device::add_release_on_device(*arrived, static_cast<unsigned>(barriers));
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
  PeerSteps peers;
  device::Counter first; ///< the number of the first of these steps
};

namespace detail {

/// The end of steps as each team works it out for itself, in one thread: all get the same, and one of them tells the
/// host, when all steps are made: what goes to the host's memory would be waited for at each barrier.
class OwnEndOfStep {
 public:
  KOKKOS_FUNCTION void begin(const EndOfStep& given) {
    numbers_ = *given.numbers;
    state_ = *given.log.state;
    for (int k = 0; k < 3; ++k) sums_[k] = given.sums[k];
    if (given.two_parts) sums_[2] += given.sums[3];
    recurrences_ = given.recurrences;
    late_ = given.late;
    first_ = state_.next;
  }
  /// What the next step multiplies with.
  KOKKOS_FUNCTION StepScalars scalars() { return end().scalars(); }
  /// The end of the last step is written down, unless it has been.
  KOKKOS_FUNCTION void write() {
    if (late_) end().write();
    late_ = true;
  }
  template <class Sums>
  KOKKOS_FUNCTION void set(const Sums& sums) {
    for (int k = 0; k < 3; ++k) sums_[k] = sums[k];
  }
  KOKKOS_FUNCTION void leave(const EndOfStep& to, double* sums) const {
    for (auto i = first_; i < state_.next; ++i) to.log.entries[i % ResidualLog::size] = log_[i % ResidualLog::size];
    *to.numbers = numbers_;
    *to.log.state = state_;
    for (int k = 0; k < 3; ++k) sums[k] = sums_[k];
    if (to.two_parts) sums[3] = 0;
  }

 private:
  KOKKOS_FUNCTION EndOfStep end() { return {sums_, false, recurrences_, late_, &numbers_, {&state_, log_}}; }

  CgScalars numbers_;
  IterationState state_;
  double sums_[3];
  bool recurrences_;
  bool late_;
  std::int64_t first_;
  LogEntry log_[ResidualLog::size];
};

/// What a team's threads share. Sums are made by its first threads, side by side.
struct PersistentScratch {
  static constexpr int sums = 3, lanes = 32, groups = 4;
  double of_threads[sums][persistent_threads];
  double of_lanes[sums][lanes];
  double of_groups[sums][groups];
  double of_rank[sums], of_all[sums];
  OwnEndOfStep end;
  StepScalars scalars;
  bool failed; ///< another rank has not come

  /// By all threads of a team, before a barrier.
  template <class Member>
  KOKKOS_FUNCTION void add(const Member& team, const PartialSums<sums>& sum) {
    for (int k = 0; k < sums; ++k) of_threads[k][team.team_rank()] = sum[k];
  }
  /// By all threads of a team, before a barrier: `count` numbers of each sum, which are `stride` apart. There is a
  /// barrier in it: one thread that adds up all lanes would take longer.
  template <class Member>
  KOKKOS_FUNCTION void fold(const Member& team, const double* from, int stride, int count) {
    for (int t = team.team_rank(); t < sums * lanes; t += team.team_size()) {
      const int k = t / lanes, lane = t % lanes;
      double sum = 0;
      for (int i = lane; i < count; i += lanes) sum += from[k * stride + i];
      of_lanes[k][lane] = sum;
    }
    team.team_barrier();
    for (int t = team.team_rank(); t < sums * groups; t += team.team_size()) {
      constexpr int each = lanes / groups;
      const int k = t / groups, group = t % groups;
      double sum = 0;
      for (int i = 0; i < each; ++i) sum += of_lanes[k][group * each + i];
      of_groups[k][group] = sum;
    }
  }
  /// By one thread: what send_sums() takes.
  KOKKOS_FUNCTION void leave_total() {
    const auto sum = total();
    for (int k = 0; k < sums; ++k) of_rank[k] = sum[k];
  }
  /// By one thread.
  KOKKOS_FUNCTION PartialSums<sums> total() const {
    PartialSums<sums> sum;
    for (int group = 0; group < groups; ++group)
      for (int k = 0; k < sums; ++k) sum[k] += of_groups[k][group];
    return sum;
  }
};

/// `Kernel` is a format's, of rows that each thread sums for itself.
template <class Kernel>
struct PersistentKernel {
  Kernel kernel;
  RowRange interior, boundary; ///< positions
  PersistentSteps with;
  PersistentTeams::Waiter waiter;
  double* parts; ///< of the sums of teams

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto all_teams = waiter;
    auto& scratch = *static_cast<PersistentScratch*>(team.team_shmem().get_shmem_aligned(
        static_cast<std::ptrdiff_t>(sizeof(PersistentScratch)), alignof(PersistentScratch)));
    const bool leads = team.team_rank() == 0;
    // Another warp's thread: while the first one waits for other teams, it writes.
    constexpr int warp = 32;
    const bool counts = team.team_rank() == (persistent_threads > warp ? warp : 0);
    const int teams = team.league_size();
    auto& end = scratch.end;
    const auto& peers = with.peers;
    const int thread = team.team_rank(), threads = team.team_size();
    const bool sends = peers.several() && last_row(team) >= peers.interior;
    if (counts) end.begin(with.update.before);
    if (leads) scratch.failed = false;
    for (int step = 0; step < with.steps; ++step) {
      const auto number = with.first + static_cast<device::Counter>(step);
      if (counts) scratch.scalars = end.scalars();
      team.team_barrier();
      if (!scratch.scalars.goes_on) { // on all ranks: their sums are the same
        if (counts) end.write();
        all_teams.leave(team, 2 * (with.steps - step));
        break;
      }
      auto sums = updated(team, scratch.scalars);
      team.team_barrier();
      if (counts) end.write();
      all_teams.wait(team, peers, scratch.failed, sends); // the product reads rows of other teams
      if (scratch.failed) return;
      if (team.league_rank() == 0) peers.tell_neighbours(thread, threads, number);
      sums[2] = product_of(team, interior);
      if (peers.several()) {
        if (!peers.wait_for_neighbours(thread, threads, number)) scratch.failed = true;
        team.team_barrier();
        if (scratch.failed) return;
      }
      sums[2] += product_of(team, boundary);
      scratch.add(team, sums);
      team.team_barrier();
      scratch.fold(team, &scratch.of_threads[0][0], persistent_threads, team.team_size());
      team.team_barrier();
      if (leads) {
        const auto total = scratch.total();
        for (int k = 0; k < 3; ++k) parts[k * teams + team.league_rank()] = total[k];
      }
      all_teams.wait(team, peers, scratch.failed, false);
      if (scratch.failed) return;
      scratch.fold(team, parts, teams, teams);
      team.team_barrier();
      if (!peers.several()) {
        if (counts) end.set(scratch.total());
        continue;
      }
      if (leads) scratch.leave_total();
      team.team_barrier();
      if (team.league_rank() == 0) peers.send_sums(thread, threads, number, scratch.of_rank);
      if (!peers.receive_sums(thread, threads, number, scratch.of_rank, scratch.of_all)) scratch.failed = true;
      team.team_barrier();
      if (scratch.failed) return;
      if (counts) end.set(scratch.of_all);
    }
    if (counts && team.league_rank() == 0) end.leave(with.update.before, with.sums);
  }

 private:
  /// That the team's threads update; -1: none.
  template <class Member>
  KOKKOS_FUNCTION std::int64_t last_row(const Member& team) const {
    const std::int64_t threads = team.team_size(), first = team.league_rank() * threads;
    if (first >= with.rows) return -1;
    const std::int64_t all = team.league_size() * threads, block = first + (with.rows - 1 - first) / all * all;
    return (block + threads < with.rows ? block + threads : with.rows) - 1;
  }
  template <class Member>
  KOKKOS_FUNCTION PartialSums<3> updated(const Member& team, const StepScalars& scalars) const {
    return with.scaled ? updated<true>(team, scalars) : updated<false>(team, scalars);
  }
  template <bool scaled, class Member>
  KOKKOS_FUNCTION PartialSums<3> updated(const Member& team, const StepScalars& scalars) const {
    PartialSums<3> sums;
    const auto& update = with.update;
    const auto add = [&](std::int64_t i, const MergedUpdate::Loaded& loaded) {
      const auto terms = update.template row<scaled>(i, loaded, scalars);
      sums[0] += terms[0];
      sums[1] += terms[1];
      with.peers.send(i, update.u(i));
    };
    const std::int64_t threads = team.team_size(), all = team.league_size() * threads;
    auto i = team.league_rank() * threads + team.team_rank();
    for (; i + all < with.rows; i += 2 * all) {
      const auto first = update.template load<scaled>(i), second = update.template load<scaled>(i + all);
      add(i, first);
      add(i + all, second);
    }
    if (i < with.rows) add(i, update.template load<scaled>(i));
    return sums;
  }
  /// The part of u.w of rows at these positions. Warps of different teams follow one another: so all have some of few.
  template <class Member>
  KOKKOS_FUNCTION double product_of(const Member& team, const RowRange& range) const {
    constexpr int at_once = 9; // a thread has twice the registers of those of a product
    constexpr int lanes = persistent_threads < 32 ? persistent_threads : 32;
    const int warp = team.team_rank() / lanes, lane = team.team_rank() % lanes;
    const auto teams = static_cast<StorageIndex>(team.league_size());
    const auto all = teams * static_cast<StorageIndex>(team.team_size());
    const auto end = static_cast<StorageIndex>(range.end);
    double part = 0;
    for (auto position =
             static_cast<StorageIndex>(range.begin) +
             (static_cast<StorageIndex>(warp) * teams + static_cast<StorageIndex>(team.league_rank())) * lanes +
             static_cast<StorageIndex>(lane);
         position < end; position += all) {
      const auto row = kernel.row_of(position);
      if (row < 0) continue;
      const double value = kernel.template sum<at_once>(position, row);
      kernel.y[row] = value;
      part += kernel.x[row] * value;
    }
    return part;
  }
};

} // namespace detail

/// Local; waits for nothing. Steps by one kernel, whose product goes by `kernel` over these positions.
template <class Kernel>
void launch_persistent(const Space& instance, const Kernel& kernel, const RowRange& interior, const RowRange& boundary,
                       const PersistentSteps& steps) {
  const int teams = teams_of(interior.count() + boundary.count(), persistent_threads, device::resident_teams());
  const auto policy = policy_of_teams<Kokkos::LaunchBounds<persistent_threads, 1>>(
      instance, teams, persistent_threads, sizeof(detail::PersistentScratch) + alignof(detail::PersistentScratch));
  Kokkos::parallel_for("cg/persistent", policy,
                       detail::PersistentKernel<Kernel>{kernel, interior, boundary, steps,
                                                        steps.teams->waiter(teams, 2 * steps.steps),
                                                        steps.teams->places().parts});
}

} // namespace kontor::cg
