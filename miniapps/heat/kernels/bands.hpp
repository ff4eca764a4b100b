// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/column_shape.hpp"
#include "heat/kernels/norm_stop.hpp"
#include "heat/names.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/mailboxes.hpp>
#include <kontor/comm/peer_wait.hpp>
#include <kontor/device/lanes.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

/// Sweeps of several ranks by one kernel on each, for problems so small that launches and messages are most of their
/// time. A team has a band of rows (2-D) or planes (3-D) and goes from sweep to sweep as soon as the bands on both
/// sides are as far as it is. See I. Ismayilov et al., "Multi-GPU communication schemes for iterative solvers: when
/// CPUs are not in charge", ICS 2023.
///
/// Rows travel as words that hold 4 bytes and the number of the row: nothing orders one after another, as with
/// mailboxes (mailboxes.hpp). They lie in two places in turn: who has received row n - 1 may send row n, as its peer
/// sent row n - 1 after it had received row n - 2.
namespace kontor::heat {

using comm::Word;

/// An end of a band, beyond which others have rows: another rank, this one's next band or, on a periodic axis that is
/// not cut, this rank at its other end.
struct Border {
  int rank = comm::no_rank; ///< that other one
  Word* to = nullptr;       ///< where it reads this side's rows: two of them. Null: nobody does
  Word* from = nullptr;     ///< where its rows arrive
};

/// How bands wait for each other, in this rank's memory: two counters a team.
struct BandCounters {
  static constexpr int stride = 8; ///< of counters: each has a cache line
  device::Counter* first;
  KOKKOS_FUNCTION device::Counter& of(int team, int side) const { return first[(2 * team + side) * stride]; }
};

/// Rows of a thread, at most, of a plate that stays in registers. On a host tests alone run them: few rows compile
/// fast.
template <class T>
inline constexpr int register_rows = (device::kernels_on_host ? 16 : 64) / static_cast<int>(sizeof(T));

/// How a plate that stays in registers is laid over threads.
struct RegisterShape {
  int width = 0;   ///< columns of a thread; 0: the plate does not fit
  int bands = 0;   ///< of this rank, a team each
  int columns = 0; ///< threads with cells of a row
  int stride = 0;  ///< threads of a row: whole warps
  int groups = 0;  ///< so many of a team have rows one above the other
};

/// What a kernel of several sweeps is given beside fields.
struct PersistentSweeps {
  Border borders[2]; ///< lower, upper
  BandCounters counters;
  comm::PeerWait wait;
  device::Counter begin; ///< above what counters and words have come to; they grow by one a sweep
  int sweeps;
  int norm_every; ///< each so many-th sweep leaves its norm's parts; 0: none
  double* parts;  ///< [norms][teams]
  NormStop stop;
  bool wraps[2]; ///< x and, in 3-D, y: whether the block is its own neighbour there
  RegisterShape registers;
  Word* between;          ///< of plates in registers: rows between this rank's bands
  std::int64_t row_words; ///< a row has so many of them

  /// Whether a sweep leaves a norm, as the kernel's n-th: sweep / norm_every.
  KOKKOS_FUNCTION bool has_norm(int sweep) const { return sweep > 0 && sweep % norm_every == 0; }
  /// Whether this norm may end sweeps. Of the last sweep it would end none.
  KOKKOS_FUNCTION bool may_end(int sweep) const { return stop.below > 0 && sweep < sweeps && has_norm(sweep); }

  /// An end of one of so many bands in registers.
  KOKKOS_FUNCTION Border border_of(int band, int side, int bands) const {
    const int other = side == 0 ? band - 1 : band + 1;
    if (other < 0 || other >= bands) return borders[side];
    const auto place = [&](int of, int from_side) { return between + (2 * of + from_side) * 2 * row_words; };
    return {comm::no_rank, place(other, 1 - side), place(band, side)};
  }
};

/// Threads of a team, each of which may have a multiprocessor for itself.
inline constexpr int band_threads = device::kernels_on_host ? 1 : 512;

/// Bands of so many rows: as few as have work for all threads, but of `most_rows` at most, and no more than run at
/// once.
inline int bands_of(std::int64_t rows, std::int64_t columns, std::int64_t most_rows) {
  const auto wanted = std::max(rows * columns / band_threads, (rows + most_rows - 1) / most_rows);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::min<std::int64_t>(device::resident_teams(), rows)));
}

/// The shape of a block; which fits only if its axis x is not cut and not periodic.
template <class T>
RegisterShape register_shape(const Block& block) {
  const auto cells = block.extents[0], rows = block.extents[1];
  if (block.dimensions != 2 || block.wraps[0]) return {};
  for (int width = pack_width<T>; width <= 4; width *= 2) {
    const auto columns = (cells + width - 1) / width;
    const auto stride = (columns + device::lanes - 1) / device::lanes * device::lanes;
    if (stride > band_threads) continue;
    const auto groups = band_threads / stride, most_rows = groups * register_rows<T>;
    const int bands = bands_of(rows, stride, most_rows);
    const bool wide = width > pack_width<T>; // their rows would not fit into the memory that groups share
    if ((rows + bands - 1) / bands > most_rows || (wide && groups > 1)) continue;
    return {width, bands, static_cast<int>(columns), static_cast<int>(stride), static_cast<int>(groups)};
  }
  return {};
}

/// The teams of a block.
template <class T>
int teams_of(const Block& block, const RegisterShape& registers) {
  if (registers.width > 0) return registers.bands;
  const auto rows = block.extents[block.dimensions - 1];
  const auto lines = block.all().size() / block.extents[0] / rows;
  return bands_of(rows, (block.extents[0] + pack_width<T> - 1) / pack_width<T> * lines, rows);
}

/// Where word `w` of a column lies among those of a border with so many columns, of row number `row`: threads side by
/// side have words side by side, which travel together.
template <int words>
KOKKOS_INLINE_FUNCTION std::int64_t word_of(int columns, int column, int w, device::Counter row) {
  return (static_cast<std::int64_t>(row % 2) * words + w) * columns + column;
}

/// A column's cells of row number `row`.
template <class Cells>
KOKKOS_INLINE_FUNCTION void send_cells(const Border& border, int columns, int column, device::Counter row,
                                       const Cells& cells) {
  constexpr int words = sizeof cells / 4;
  std::uint32_t bytes[words];
  memcpy(bytes, &cells, sizeof cells);
  for (int w = 0; w < words; ++w)
    device::store_relaxed(border.to[word_of<words>(columns, column, w, row)], row << 32 | bytes[w]);
}

/// Waits for them. False: they have not come.
template <class Cells>
KOKKOS_INLINE_FUNCTION bool receive_cells(const comm::PeerWait& wait, const Border& border, int columns, int column,
                                          device::Counter row, Cells& cells) {
  constexpr int words = sizeof cells / 4;
  const auto limited = border.rank == comm::no_rank ? wait.for_own() : wait;
  comm::PeerWait::Looks looks(limited);
  std::uint32_t bytes[words];
  for (bool all = false; !all;) {
    all = true;
    for (int w = 0; w < words; ++w) { // all are on their way at once
      const Word word = device::load_relaxed(border.from[word_of<words>(columns, column, w, row)]);
      bytes[w] = static_cast<std::uint32_t>(word);
      all = all && word >> 32 == static_cast<std::uint32_t>(row);
    }
    if (all || looks.goes_on()) continue;
    if (border.rank != comm::no_rank) wait.give_up(border.rank);
    return false;
  }
  memcpy(&cells, bytes, sizeof bytes);
  return true;
}

} // namespace kontor::heat
