// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/persistent.hpp"

#include <type_traits>

namespace kontor::cg {
namespace {

/// `Rows` are a format's, which a thread sums one by one.
template <class Rows, class Update>
struct PersistentKernel {
  using Row = typename Update::Row;
  using Place = typename Rows::Place;
  static constexpr bool sums_follow_product = std::is_same_v<Update, MergedUpdate>;

  Rows matrix;
  double* product; ///< with all rows
  Update update;
  Vector multiplied;
  int steps;
  PeerSteps peers;
  device::Counter first;
  PersistentShare rows; ///< positions of the matrix
  PersistentShare ghosts;
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
    KeptRows kept;
    Place first; ///< of its rows
    int vector;  ///< that is multiplied
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto& scratch = *static_cast<PersistentScratch*>(team.team_shmem().get_shmem_aligned(
        static_cast<std::ptrdiff_t>(sizeof(PersistentScratch)), alignof(PersistentScratch)));
    constexpr int second_warp = persistent_threads > 1 ? device::lanes : 0;
    const int thread = team.team_rank();
    Thread<Member> own{team,
                       scratch,
                       waiter,
                       thread == 0,
                       thread == second_warp,
                       rows.of_thread(persistent_threads),
                       {scratch.kept + thread},
                       place_at(position(team, 0)),
                       0};
    if (own.counts) scratch.end.begin(update.before);
    if (own.leads) scratch.failed = false;
    each_kept(own, [&](int k, LocalIndex i) { own.kept.store(k, update.load(i)); });
    team.team_barrier();
    bool made;
    if constexpr (sums_follow_product)
      made = make_merged(own);
    else
      made = make_pipelined(own);
    if (!made) return;
    each_kept(own, [&](int k, LocalIndex i) {
      Row row;
      own.kept.load(k, row);
      update.store_kept(i, row);
      if constexpr (Row::keeps_product) product[i] = own.kept.at(k, kept_numbers - 1);
    });
    for (int k = 0; own.vector != 0 && k < own.count; ++k) { // the next kernel begins with the first vector
      const auto i = place_of(own, k).row;
      if (i >= 0) vector_of(0)[i] = vector_of(own.vector)[i];
    }
    if (own.counts && team.league_rank() == 0) scratch.end.leave(update.before);
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION bool make_merged(Thread<Member>& own) const {
    for (int step = 0; step < steps; ++step) {
      const auto number = first + static_cast<device::Counter>(step);
      if (ended(own, steps - step)) break;
      auto sums = updated(own, number);
      if (!all_written(own, number)) return false;
      sums[2] = product_of(own);
      send_sums(own.team, peers, own.scratch, number, sums);
      if (!receive_sums(own.team, peers, own.scratch, number, own.counts)) return false;
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
    auto number = first;
    for (int k = 0; k < own.count; ++k) {
      const auto i = place_of(own, k).row;
      if (i >= 0) peers.send(i, number, vector_of(0)[i]);
    }
    PartialSums<3> sums;
    if (own.leads && team.league_rank() == 0) // of the step before
      for (int k = 0; k < 3; ++k) sums[k] = update.before.sums[k];
    send_sums(own.team, peers, own.scratch, number, sums);
    bool goes_on = true;
    for (int step = 0; step < steps; ++step) {
      if (!all_written(own, number)) return false;
      product_of(own);
      if (!receive_sums(own.team, peers, own.scratch, number, own.counts)) return false;
      goes_on = !ended(own, steps - step - 1);
      if (!goes_on) break;
      sums = updated(own, ++number);
      if (own.counts) own.scratch.end.write();
      send_sums(own.team, peers, own.scratch, number, sums);
    }
    if (goes_on && !receive_sums(own.team, peers, own.scratch, number, own.counts))
      return false; // and all have made the product before it
    if (own.counts) own.scratch.end.write();
    return true;
  }

  /// One of those in turn.
  KOKKOS_FUNCTION double* vector_of(int which) const { return multiplied.data() + which * peers.apart; }

  template <class Member>
  KOKKOS_FUNCTION std::int64_t position(const Member& team, int k) const {
    return rows.number(team.league_rank(), team.team_rank(), persistent_threads, k);
  }
  KOKKOS_FUNCTION Place place_at(std::int64_t position) const {
    return position < 0 ? Place{-1} : matrix.place_of(static_cast<StorageIndex>(position));
  }
  template <class Member>
  KOKKOS_FUNCTION Place place_of(const Thread<Member>& own, int k) const {
    return k == 0 ? own.first : place_at(position(own.team, k));
  }
  template <class Member, class Do>
  KOKKOS_FUNCTION void each_kept(const Thread<Member>& own, const Do& with) const {
    for (int k = 0; k < KeptRows::rows && k < own.count; ++k) {
      const auto i = place_of(own, k).row;
      if (i >= 0) with(k, i);
    }
  }
  /// Whether there is no further step; so many barriers of all teams are left out. Else threads know the scalars.
  template <class Member>
  KOKKOS_FUNCTION bool ended(Thread<Member>& own, int barriers) const {
    if (own.counts) own.scratch.scalars = own.scratch.end.scalars();
    own.team.team_barrier();
    if (own.scratch.scalars.goes_on) return false;
    own.all_teams.leave(own.team, barriers);
    return true;
  }

  /// The vector that is multiplied can be read, with its ghosts. False: it cannot.
  template <class Member>
  KOKKOS_FUNCTION bool all_written(Thread<Member>& own, device::Counter number) const {
    const auto& team = own.team;
    for (int k = 0; k < ghosts.of_thread(persistent_threads); ++k) {
      const auto i = ghosts.number(team.league_rank(), team.team_rank(), persistent_threads, k);
      if (i >= 0 && !peers.receive(i, number, vector_of(own.vector)[i])) own.scratch.failed = true;
    }
    team.team_barrier();
    if (own.counts && sums_follow_product) own.scratch.end.write(); // while the first thread waits
    own.all_teams.wait(team, peers, own.scratch.failed);
    return !own.scratch.failed;
  }

  /// The first rows come last: those that other ranks read are the last ones.
  template <class Member>
  KOKKOS_FUNCTION PartialSums<3> updated(Thread<Member>& own, device::Counter number) const {
    PartialSums<3> sums;
    const StepScalars scalars = own.scratch.scalars;
    const double* const now = vector_of(own.vector);
    if constexpr (!sums_follow_product) own.vector = 1 - own.vector;
    double* const next = vector_of(own.vector);
    const bool scaled = update.inverse.data() != nullptr;
    const auto load = [&](int k, LocalIndex i) {
      Row row{};
      if (i < 0) return row;
      if (k < KeptRows::rows) {
        own.kept.load(k, row);
        update.load_but_kept(i, row);
      } else {
        row = update.load(i);
      }
      if (!sums_follow_product && !scaled) row.multiplied() = now[i];
      return row;
    };
    const auto add = [&](int k, LocalIndex i, Row& row) {
      if (i < 0) return;
      const double scale = scaled ? update.inverse(i) : 1;
      row.step(scale * row.r, scalars);
      const double value = scale * row.multiplied();
      next[i] = value;
      peers.send(i, number, value);
      if (k < KeptRows::rows)
        own.kept.store(k, row);
      else
        update.store_kept(i, row);
      update.store_others(i, row);
      if (scaled) update.store_multiplied(i, row);
      const auto terms = row.sums(scale * row.r);
      for (int n = 0; n < (sums_follow_product ? 2 : 3); ++n) sums[n] += terms[n];
    };
    constexpr int at_once = 2; // on their way
    for (int k = own.count - 1; k >= 0; k -= at_once) {
      LocalIndex at[at_once];
      Row row[at_once];
      for (int m = 0; m < at_once; ++m) {
        at[m] = m <= k ? place_of(own, k - m).row : -1;
        row[m] = load(k - m, at[m]);
      }
      for (int m = 0; m < at_once; ++m) add(k - m, at[m], row[m]);
    }
    return sums;
  }

  /// Returns the thread's part of its dot with what is multiplied.
  template <class Member>
  KOKKOS_FUNCTION double product_of(Thread<Member>& own) const {
    constexpr int at_once = 9; // a thread has twice the registers of those of a product
    const double* const x = vector_of(own.vector);
    double dot = 0;
    for (int k = 0; k < own.count; ++k) {
      const Place place = place_of(own, k);
      if (place.row < 0) continue;
      const double value = matrix.template sum<at_once>(x, static_cast<StorageIndex>(position(own.team, k)), place);
      if (Row::keeps_product && k < KeptRows::rows)
        own.kept.at(k, kept_numbers - 1) = value;
      else
        product[place.row] = value;
      dot += x[place.row] * value;
    }
    return dot;
  }
};

} // namespace

void launch_persistent(const Space& instance, const ThreadRows& matrix, const PersistentSteps& steps) {
  const int teams = steps.peers.parts.teams();
  const auto policy = policy_of_teams<Kokkos::LaunchBounds<persistent_threads, 1>>(
      instance, teams, persistent_threads, sizeof(PersistentScratch) + alignof(PersistentScratch));
  std::visit(
      [&](const auto& rows, const auto& update) {
        using Kernel = PersistentKernel<std::decay_t<decltype(rows)>, std::decay_t<decltype(update)>>;
        Kokkos::parallel_for("cg/persistent", policy,
                             Kernel{rows, steps.product.data(), update, steps.multiplied, steps.steps, steps.peers,
                                    steps.first, PersistentShare(matrix.positions, teams),
                                    PersistentShare(steps.peers.ghost_rows, teams),
                                    steps.teams->waiter(teams, steps.steps)});
      },
      matrix.rows, steps.update);
}

} // namespace kontor::cg
