// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/matrix/row_sum.hpp"
#include "stepping/team_sums.hpp"

#include <Kokkos_Core.hpp>

/// A format's rows given to the threads of a device.
namespace kontor::cg {

/// Kernels whose threads sum rows together: all of a team call sum(team, stage, positions, row).
template <class Kernel>
concept Staged = requires {
  typename Kernel::Stage;
};

namespace detail {

/// A position is a thread's, as a device wants it. A team takes a block after the other, as many blocks further on as
/// there are teams, and leaves one part of the dot: the last team, which adds up the parts of all, waits until their
/// rows are in memory.
template <class Kernel, bool with_dot>
struct InTeams {
  Kernel kernel;
  RowRange range;
  int block;
  bool backwards; ///< the last block first; where each team has one, so that its sum is the same
  TeamParts::Places places;
  double* sum;
  const int* skip_if; ///< see Matrix::skip_if()

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (skip_if != nullptr && *skip_if != 0) return;
    const int place = backwards ? team.league_size() - 1 - team.league_rank() : team.league_rank();
    const auto end = static_cast<StorageIndex>(range.end);
    const auto step = static_cast<StorageIndex>(team.league_size() * block);
    const auto stage = stage_of(team); // once: each call takes more scratch memory
    double part = 0;
    for (auto first = static_cast<StorageIndex>(range.begin + place * block); first < end; first += step)
      part += of_block(team, stage, first);
    if constexpr (with_dot) {
      PartialSums<1> sums;
      sums[0] = part;
      add_up<1>(team, place, sums, places, StoreTo<1>{sum});
    }
  }

  template <class Member>
  KOKKOS_FUNCTION auto stage_of(const Member& team) const {
    if constexpr (Staged<Kernel>)
      return kernel.stage_of(team);
    else
      return nullptr;
  }
  /// The products of a block from `first` on. Returns this thread's part of the dot.
  template <class Member, class Stage>
  KOKKOS_FUNCTION double of_block(const Member& team, const Stage& stage, StorageIndex first) const {
    const auto position = first + static_cast<StorageIndex>(team.team_rank());
    const auto end = static_cast<StorageIndex>(range.end);
    if constexpr (Staged<Kernel>) {
      const auto end_of_block = first + block < end ? first + block : end;
      const LocalIndex row = position < end_of_block ? kernel.place_of(position).row : -1;
      const double value = kernel.sum(team, stage, {first, end_of_block}, row);
      return row < 0 ? 0 : leave(row, value);
    } else { // a block has as many positions as a team has threads
      const auto place = position < end ? kernel.place_of(position) : typename Kernel::Place{-1};
      return place.row < 0 ? 0 : leave(place.row, kernel.sum(kernel.x, position, place));
    }
  }
  KOKKOS_FUNCTION double leave(LocalIndex row, double value) const {
    kernel.y[row] = value;
    return with_dot ? kernel.x[row] * value : 0;
  }
};

} // namespace detail

} // namespace kontor::cg
