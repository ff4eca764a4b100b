// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

namespace kontor::heat {

/// What a run does after which sweep; sweeps count from 1.
struct Agenda {
  std::int64_t limit = 0;          ///< the most sweeps
  std::int64_t check_every = 0;    ///< sweeps between norms; 0: none
  std::int64_t snapshot_every = 0; ///< sweeps between snapshots; 0: none
  bool norm_at_the_end = false;    ///< even if check_every is 0

  bool last(std::int64_t sweep) const { return sweep == limit; }
  bool check(std::int64_t sweep) const {
    return check_every > 0 ? sweep % check_every == 0 || last(sweep) : norm_at_the_end && last(sweep);
  }
  bool snapshot(std::int64_t sweep) const {
    return snapshot_every > 0 && sweep % snapshot_every == 0 && !last(sweep);
  }

  /// How many sweeps in a row come after this one before the next that has a norm or snapshot or is the last.
  std::int64_t plain_after(std::int64_t sweep) const {
    auto next = limit;
    for (const auto every : {check_every, snapshot_every})
      if (every > 0) next = std::min(next, (sweep / every + 1) * every);
    return next - 1 - sweep;
  }
};

} // namespace kontor::heat
