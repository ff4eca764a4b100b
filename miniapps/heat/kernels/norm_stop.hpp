// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/norm_parts.hpp"
#include "stepping/peer_parts.hpp"

namespace kontor::heat {

/// How sweeps by one kernel of each rank end by a norm, without the host: each team puts the parts of all teams of all
/// ranks together, in the same order, so all end after the same sweep. Sums round in another order than those of
/// combine_each(), which decide whether a run has converged. So `below` is a little above the tolerance.
struct NormStop {
  const stepping::PeerParts* parts = nullptr; ///< in a device's memory: kernels get few numbers
  double below = 0;                           ///< parts put together that end sweeps; 0: none do
  device::Counter norms = 0;                  ///< that teams have put together in earlier kernels
  device::Counter begin = 0;                  ///< number of the sweep before those that may end
  device::Counter* ended = nullptr;           ///< number of the last sweep that ended some

  /// Whether an earlier kernel of these sweeps has ended them.
  KOKKOS_FUNCTION bool has_ended() const { return below > 0 && *ended > begin; }

  /// By all threads of a team, for the kernel's n-th norm.
  template <class Member>
  KOKKOS_FUNCTION void send(const Member& team, int n, double part) const {
    for (int to = team.team_rank(); to < parts->ranks(); to += team.team_size()) {
      parts->send(to, team.league_rank(), 0, norms + n, part);
      for (int none = team.league_size(); none < parts->teams() && team.league_rank() == 0; ++none)
        parts->send(to, none, 0, norms + n, 0);
    }
  }
  /// The same, before the next norm is sent. Whether it ends the sweeps; `sweep` is the number of its own. `failed`: a
  /// rank has not come.
  template <Norm norm, class Member>
  KOKKOS_FUNCTION bool ends(const Member& team, int n, device::Counter sweep, int& failed) const {
    double part = 0;
    const auto join = [&](double other) { part = stepping::joined<norm>(part, other); };
    if (!parts->receive(0, team.team_rank(), team.team_size(), norms + n, join)) failed = 1;
    part = stepping::detail::over_team<norm>(team, part);
    if (!(part < below)) return false;
    if (team.league_rank() == 0 && team.team_rank() == 0) *ended = sweep;
    return true;
  }
};

} // namespace kontor::heat
