// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/persistent_teams.hpp"

#include <variant>

/// Iterations by one kernel, for problems so small that launches are most of their time. Its threads stay for all of
/// them, and wait for each other and for the kernels of other ranks: L. Zhang, M. Wahib, P. Chen, J. Meng, X. Wang, T.
/// Endo, S. Matsuoka, "PERKS: a locality-optimized execution model for iterative memory-bound GPU applications", ICS
/// 2023. In merged all teams wait twice an iteration, for the vector that is multiplied and for sums; in pipelined
/// once, as sums travel during the product. Nothing of the last step is left to the next one.
namespace kontor::cg {

/// How many numbers more than steps a kernel uses.
inline constexpr device::Counter more_numbers = 2;

/// The iterations: what the method's kernels have, and how many.
struct PersistentSteps {
  std::variant<MergedUpdate, PipelinedUpdate> update;
  Vector multiplied; ///< own rows of what the matrix is multiplied with: of the first of the vectors in turn
  int steps;
  PersistentTeams* teams;
  PeerSteps peers;
  device::Counter first; ///< number that no kernel has used; see more_numbers
};

namespace detail {

/// `Kernel` is a format's, of rows that each thread sums for itself.
template <class Kernel, class Update>
struct PersistentKernel {
  using Row = typename Update::Row;
  static constexpr bool sums_follow_product = std::is_same_v<Update, MergedUpdate>;

  Kernel kernel;
  Update update;
  Vector multiplied;
  int steps;
  PeerSteps peers;
  device::Counter first;
  PersistentRows rows;
  PersistentTeams::Waiter waiter;

  /// What a thread works with.
  template <class Member>
  struct Thread {
    const Member& team;
    PersistentScratch& scratch;
    PersistentTeams::Waiter all_teams;
    bool leads;  ///< the team
    bool counts; ///< the end of steps; in another warp than the first thread, which waits for other teams
    int count;   ///< of its rows, at most
    int vector;  ///< that is multiplied
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto& scratch = *static_cast<PersistentScratch*>(team.team_shmem().get_shmem_aligned(
        static_cast<std::ptrdiff_t>(sizeof(PersistentScratch)), alignof(PersistentScratch)));
    constexpr int second_warp = persistent_threads > 1 ? device::lanes : 0;
    const int thread = team.team_rank();
    Thread<Member> own{team, scratch, waiter, thread == 0, thread == second_warp, rows.of_thread(team.team_size()), 0};
    if (own.counts) scratch.end.begin(update.before);
    if (own.leads) scratch.failed = false;
    team.team_barrier();
    bool made;
    if constexpr (sums_follow_product)
      made = make_merged(own);
    else
      made = make_pipelined(own);
    if (!made) return;
    for (int k = 0; own.vector != 0 && k < own.count; ++k) { // the next kernel begins with the first vector
      const auto row = row_of(team, k);
      if (row >= 0) vector_of(0)[row] = vector_of(own.vector)[row];
    }
    if (own.counts && team.league_rank() == 0) scratch.end.leave(update.before);
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION bool make_merged(Thread<Member>& own) const {
    for (int step = 0; step < steps; ++step) {
      const auto number = first + static_cast<device::Counter>(step);
      if (ended(own, steps - step)) break;
      auto sums = updated(own);
      if (!all_written(own, number)) return false;
      sums[2] = product_of(own, number);
      send_sums(own, number, sums);
      if (!receive_sums(own, number)) return false;
    }
    if (own.counts) own.scratch.end.write();
    return true;
  }

  template <class Member>
  KOKKOS_FUNCTION bool make_pipelined(Thread<Member>& own) const {
    const auto& team = own.team;
    // A kernel after the end sends nothing: ranks that were late may not have read what was sent.
    if (own.counts) own.scratch.scalars.goes_on = update.before.log.state->ended == 0;
    team.team_barrier();
    if (!own.scratch.scalars.goes_on) {
      own.all_teams.leave(team, steps);
      return true;
    }
    PartialSums<3> sums;
    send_sums(own, first, sums); // once all have, no rank reads ghosts of the product before
    if (!receive_sums(own, first)) return false;
    for (int k = 0; k < own.count; ++k) {
      const auto row = row_of(team, k);
      if (row >= 0) peers.send(row, vector_of(0)[row], 0);
    }
    auto number = first + 1;
    if (own.leads && team.league_rank() == 0) // of the step before
      for (int k = 0; k < 3; ++k) sums[k] = update.before.sums[k];
    send_sums(own, number, sums);
    bool goes_on = true;
    for (int step = 0; step < steps; ++step) {
      if (!all_written(own, number)) return false;
      product_of(own, number);
      if (!receive_sums(own, number)) return false;
      goes_on = !ended(own, steps - step - 1);
      if (!goes_on) break;
      sums = updated(own);
      if (own.counts) own.scratch.end.write();
      send_sums(own, ++number, sums);
    }
    if (goes_on && !receive_sums(own, number)) return false; // and all have made the product before it
    if (own.counts) own.scratch.end.write();
    return true;
  }

  /// One of those in turn.
  KOKKOS_FUNCTION double* vector_of(int which) const { return multiplied.data() + which * peers.apart; }

  /// Whether there is no further step; so many barriers of all teams are left out. Else threads know the scalars.
  template <class Member>
  KOKKOS_FUNCTION bool ended(Thread<Member>& own, int barriers) const {
    if (own.counts) own.scratch.scalars = own.scratch.end.scalars();
    own.team.team_barrier();
    if (own.scratch.scalars.goes_on) return false;
    own.all_teams.leave(own.team, barriers);
    return true;
  }

  /// The vector that is multiplied can be read: on this rank, and soon by the others. False: it cannot.
  template <class Member>
  KOKKOS_FUNCTION bool all_written(Thread<Member>& own, device::Counter number) const {
    own.team.team_barrier();
    if (own.counts && sums_follow_product) own.scratch.end.write(); // while the first thread waits
    own.all_teams.wait(own.team, peers, own.scratch.failed);
    if (own.team.league_rank() == 0) peers.tell_neighbours(own.team.team_rank(), own.team.team_size(), number);
    return !own.scratch.failed;
  }

  /// The sums of this team's threads go to all teams.
  template <class Member>
  KOKKOS_FUNCTION void send_sums(Thread<Member>& own, device::Counter number, const PartialSums<3>& sums) const {
    constexpr int warps = PersistentScratch::warps;
    const int thread = own.team.team_rank(), warp = thread / device::lanes, lane = thread % device::lanes;
    for (int k = 0; k < 3; ++k) {
      const double sum = device::sum_of_lanes(sums[k]);
      if (lane == 0) own.scratch.of_warps[k][warp] = sum;
    }
    own.team.team_barrier();
    for (int k = warp; k < 3; k += warps) {
      double sum = 0;
      for (int w = lane; w < warps; w += device::lanes) sum += own.scratch.of_warps[k][w];
      sum = device::sum_of_lanes(sum);
      for (int to = lane; to < peers.boxes.ranks; to += device::lanes)
        peers.send_part(to, own.team.league_rank(), k, number, sum);
    }
  }
  /// The end of the step knows the sums. False: a rank has not come.
  template <class Member>
  KOKKOS_FUNCTION bool receive_sums(Thread<Member>& own, device::Counter number) const {
    constexpr int receivers = PersistentScratch::receivers, lanes = device::lanes;
    const int thread = own.team.team_rank();
    auto& scratch = own.scratch;
    for (int unit = thread / lanes; unit < 3 * receivers; unit += PersistentScratch::warps) {
      const int k = unit / receivers, r = unit % receivers;
      double sum;
      if (!peers.receive_parts(k, r * lanes + thread % lanes, receivers * lanes, number, sum)) scratch.failed = true;
      sum = device::sum_of_lanes(sum);
      if (thread % lanes == 0) scratch.received[k][r] = sum;
    }
    own.team.team_barrier();
    if (scratch.failed) return false;
    if (own.counts) {
      double sums[3] = {};
      for (int r = 0; r < receivers; ++r)
        for (int k = 0; k < 3; ++k) sums[k] += scratch.received[k][r];
      scratch.end.set(sums);
    }
    return true;
  }

  template <class Member>
  KOKKOS_FUNCTION LocalIndex row_of(const Member& team, int k) const {
    const auto position = rows.position(team.league_rank(), team.team_rank(), team.team_size(), k);
    return position.at < 0 ? -1 : kernel.row_of(static_cast<StorageIndex>(position.at));
  }

  template <class Member>
  KOKKOS_FUNCTION PartialSums<3> updated(Thread<Member>& own) const {
    PartialSums<3> sums;
    const StepScalars scalars = own.scratch.scalars;
    const double* const now = vector_of(own.vector);
    if constexpr (!sums_follow_product) own.vector = 1 - own.vector;
    double* const next = vector_of(own.vector);
    const bool scaled = update.inverse.data() != nullptr;
    const auto load = [&](LocalIndex i) {
      auto row = i < 0 ? Row{} : update.load(i);
      if (!sums_follow_product && !scaled && i >= 0) row.multiplied() = now[i];
      return row;
    };
    const auto add = [&](LocalIndex i, Row& row) {
      if (i < 0) return;
      const double scale = scaled ? update.inverse(i) : 1;
      row.step(scale * row.r, scalars);
      const double value = scale * row.multiplied();
      next[i] = value;
      peers.send(i, value, own.vector);
      update.store(i, row);
      if (scaled) update.store_multiplied(i, row);
      const auto terms = row.sums(scale * row.r);
      for (int k = 0; k < (sums_follow_product ? 2 : 3); ++k) sums[k] += terms[k];
    };
    for (int k = 0; k < own.count; k += 2) { // two are on their way at once
      const LocalIndex i = row_of(own.team, k), j = k + 1 < own.count ? row_of(own.team, k + 1) : -1;
      auto first_row = load(i), second_row = load(j);
      add(i, first_row);
      add(j, second_row);
    }
    return sums;
  }

  /// Returns the thread's part of its dot with what is multiplied.
  template <class Member>
  KOKKOS_FUNCTION double product_of(Thread<Member>& own, device::Counter number) const {
    const auto& team = own.team;
    const double* const x = vector_of(own.vector);
    bool came = !peers.several();
    double dot = 0;
    for (int k = 0; k < own.count; ++k) {
      const auto position = rows.position(team.league_rank(), team.team_rank(), team.team_size(), k);
      if (position.in_boundary && !came) {
        came = peers.wait_for_neighbours(team.team_rank() % device::lanes, number);
        if (!came) {
          own.scratch.failed = true;
          break;
        }
      }
      if (position.at < 0) continue;
      const auto at = static_cast<StorageIndex>(position.at);
      const auto row = kernel.row_of(at);
      if (row < 0) continue;
      constexpr int at_once = 9; // a thread has twice the registers of those of a product
      const double value = kernel.template sum<at_once>(x, at, row);
      kernel.y[row] = value;
      dot += x[row] * value;
    }
    return dot;
  }
};

} // namespace detail

/// Local; waits for nothing. Steps by one kernel, whose product goes by `kernel` over these positions.
template <class Kernel>
void launch_persistent(const Space& instance, const Kernel& kernel, const RowRange& interior, const RowRange& boundary,
                       const PersistentSteps& steps) {
  const int teams = steps.peers.teams;
  const auto policy = policy_of_teams<Kokkos::LaunchBounds<persistent_threads, 1>>(
      instance, teams, persistent_threads, sizeof(PersistentScratch) + alignof(PersistentScratch));
  std::visit(
      [&](const auto& update) {
        using Update = std::decay_t<decltype(update)>;
        Kokkos::parallel_for("cg/persistent", policy,
                             detail::PersistentKernel<Kernel, Update>{
                                 kernel, update, steps.multiplied, steps.steps, steps.peers, steps.first,
                                 PersistentRows(interior, boundary, teams), steps.teams->waiter(teams, steps.steps)});
      },
      steps.update);
}

} // namespace kontor::cg
