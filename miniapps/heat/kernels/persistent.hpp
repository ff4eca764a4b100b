// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/columns.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/peer_wait.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Sweeps of several ranks by one kernel on each, for problems so small that launches and messages are most of their
/// time. A team has a band of rows (2-D) or planes (3-D) and goes from sweep to sweep as soon as the bands on both
/// sides are as far as it is; at the end of a block that is another rank's team, whose ghosts it writes. See I.
/// Ismayilov et al., "Multi-GPU communication schemes for iterative solvers: when CPUs are not in charge", ICS 2023.
///
/// A team writes the outer rows of a field for sweep n + 1 after its neighbours have told that theirs of sweep n are
/// complete. These were the last to read what it overwrites. The same holds for ghosts in other ranks' memory.
namespace kontor::heat {

/// An end of a block along the slowest axis, beyond which a rank has rows: another one or, of a periodic axis that is
/// not cut, this one.
template <class T>
struct Seam {
  int rank = comm::no_rank;
  T* ghosts[2] = {}; ///< of both fields there: own cell (0, 0) of the row or plane that this rank's is to be
  device::Counter* told = nullptr; ///< in that rank's memory
};

/// How bands wait for each other, in this rank's memory: two counters a team.
struct BandCounters {
  static constexpr int stride = 8; ///< of counters: each has a cache line
  device::Counter* first;
  KOKKOS_FUNCTION device::Counter& of(int team, int side) const { return first[(2 * team + side) * stride]; }
};

/// What a kernel of several sweeps is given beside fields.
template <class T>
struct PersistentSweeps {
  Seam<T> seams[2]; ///< lower, upper
  BandCounters counters;
  comm::PeerWait wait;
  int rank;
  device::Counter begin; ///< above what all counters have come to
  int sweeps;
  int norm_every; ///< each so many-th sweep leaves its norm's parts; 0: none
  double* parts;  ///< [norms][teams]
  bool wraps[2];  ///< x and, in 3-D, y: whether the block is its own neighbour there

  /// How far the counters grow.
  device::Counter grows() const { return static_cast<device::Counter>(sweeps) + 1; }
};

/// Threads of a team, each of which may have a multiprocessor for itself.
inline constexpr int band_threads = device::kernels_on_host ? 1 : 512;

/// Teams of such a kernel, at most: all of them must run at once. No multiprocessor has more than 2048 threads, so
/// there are no more teams than multiprocessors.
inline int most_bands() {
  using Space = FieldView<float>::execution_space;
  return device::kernels_on_host ? 1 : std::max(1, static_cast<int>(Space().concurrency()) / 2048);
}

/// Bands of a block: as few as have work for all threads, and no more than run at once.
template <class T>
int bands_of(const Block& block) {
  const auto rows = block.extents[block.dimensions - 1], packs = block.all().size() / pack_width<T>;
  return static_cast<int>(
      std::clamp<std::int64_t>(packs / band_threads, 1, std::min<std::int64_t>(most_bands(), rows)));
}

namespace detail {

/// Sweeps go from field `from` to the other one and back.
template <int dimensions, bool sourced, Norm norm, class T>
class Bands {
 public:
  static constexpr int threads = band_threads;
  static constexpr int batch = dimensions == 3 ? 2 : 4;

  Bands(const SweepInput<T>& in, const SweepInput<T>& other, const PersistentSweeps<T>& with, int teams)
      : sweep_{{in, other.u, ColumnShape(), nullptr}, {other, in.u, ColumnShape(), nullptr}}, with_(with),
        teams_(teams) {
    using P = Padding<T>;
    row_ = static_cast<std::int64_t>(in.u.stride(1));
    plane_ = static_cast<std::int64_t>(in.u.stride(0));
    const auto first = P::z(dimensions) * plane_ + P::y * row_ + P::x;
    fields_[0] = in.u.data() + first;
    fields_[1] = other.u.data() + first;
    for (int axis = 0; axis < 3; ++axis) cells_[axis] = static_cast<int>(in.block.extents[axis]);
    packs_ = (cells_[0] + width - 1) / width;
    lines_ = dimensions == 3 ? cells_[1] : 1;
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto& failed = *static_cast<int*>(team.team_shmem().get_shmem(sizeof(int)));
    const int own = team.league_rank();
    const int begin = row_of(own), end = row_of(own + 1);
    if (team.team_rank() == 0) failed = 0;
    team.team_barrier();
    // Other ranks' kernels have begun, so that nothing there overwrites the ghosts that are sent now.
    each_side(team, [&](int side) {
      if (at_seam(own, side)) tell(own, side, with_.begin);
    });
    each_side(team, [&](int side) {
      if (at_seam(own, side) && !wait(own, side, with_.begin)) failed = 1;
    });
    team.team_barrier();
    if (failed != 0) return;
    send(team, own, begin, end, 0);
    team.team_barrier();
    each_side(team, [&](int side) {
      if (at_seam(own, side)) tell(own, side, with_.begin + 1);
    });
    for (int sweep = 1; sweep <= with_.sweeps; ++sweep) {
      const int from = (sweep - 1) % 2;
      const auto due = with_.begin + static_cast<device::Counter>(sweep);
      each_side(team, [&](int side) {
        if ((sweep > 1 || at_seam(own, side)) && !wait(own, side, due)) failed = 1;
      });
      team.team_barrier();
      if (failed != 0) return;
      double part = rows(team, from, begin, begin + 1);
      if (end - begin > 1) part = joined<norm>(part, rows(team, from, end - 1, end));
      if (sweep < with_.sweeps) {
        send(team, own, begin, end, 1 - from);
        team.team_barrier();
        each_side(team, [&](int side) { tell(own, side, due + 1); });
      }
      part = joined<norm>(part, rows(team, from, begin + 1, end - 1));
      if constexpr (norm != Norm::none)
        if (sweep % with_.norm_every == 0) {
          part = stepping::detail::over_team<norm>(team, part);
          if (team.team_rank() == 0) with_.parts[(sweep / with_.norm_every - 1) * teams_ + own] = part;
        }
    }
  }

 private:
  using Vector = Pack<T>;
  static constexpr int width = Vector::width;
  static constexpr int slow = dimensions - 1;

  KOKKOS_FUNCTION int row_of(int team) const {
    return static_cast<int>(static_cast<std::int64_t>(cells_[slow]) * team / teams_);
  }
  KOKKOS_FUNCTION bool outermost(int own, int side) const { return own == (side == 0 ? 0 : teams_ - 1); }
  KOKKOS_FUNCTION bool at_seam(int own, int side) const {
    return outermost(own, side) && with_.seams[side].rank != comm::no_rank;
  }

  /// By one thread a side, of different warps, so that they wait side by side.
  template <class Member, class Work>
  KOKKOS_FUNCTION static void each_side(const Member& team, const Work& work) {
    constexpr int warp = 32;
    for (int side = 0; side < 2; ++side)
      if (team.team_rank() == (threads > warp ? side * warp : 0)) work(side);
  }

  /// The counter is of the neighbour on that side, or there is none.
  KOKKOS_FUNCTION void tell(int own, int side, device::Counter value) const {
    if (outermost(own, side)) {
      if (at_seam(own, side)) device::store_release(*with_.seams[side].told, value);
    } else {
      device::store_release_on_device(with_.counters.of(side == 0 ? own - 1 : own + 1, 1 - side), value);
    }
  }
  KOKKOS_FUNCTION bool wait(int own, int side, device::Counter value) const {
    if (outermost(own, side) && !at_seam(own, side)) return true;
    const int rank = at_seam(own, side) ? with_.seams[side].rank : with_.rank;
    return with_.wait.until(with_.counters.of(own, side), value, rank);
  }

  /// Sweeps rows [begin, end) of the band by all threads.
  template <class Member>
  KOKKOS_FUNCTION double rows(const Member& team, int from, int begin, int end) const {
    const int columns = packs_ * lines_, rows = end - begin;
    if (rows <= 0) return 0;
    const int side_by_side = columns < threads ? threads / columns : 1;
    const int share = (rows + side_by_side - 1) / side_by_side;
    const int chunks = (rows + share - 1) / share;
    T* const out = fields_[1 - from];
    double part = 0;
    for (int item = team.team_rank(); item < columns * chunks; item += threads) {
      const int column = item % columns, first = begin + item / columns * share;
      ColumnShape::Place place{column % packs_, 0, column / packs_, first, first + share < end ? first + share : end};
      place.lanes = lanes_of(place.pack);
      part = joined<norm>(part, sweep_[from].sweep_column(place));
      wrap(out, place);
    }
    return part;
  }

  KOKKOS_FUNCTION unsigned lanes_of(int pack) const {
    const int cells = cells_[0] - pack * width;
    return cells >= width ? (1u << width) - 1 : (1u << cells) - 1;
  }

  /// What was written at one end of an axis that wraps is the ghost at the other end.
  KOKKOS_FUNCTION void wrap(T* out, const ColumnShape::Place& place) const {
    const auto step = dimensions == 3 ? plane_ : row_;
    if (with_.wraps[0] && (place.pack == 0 || place.pack == packs_ - 1))
      for (int m = place.begin; m < place.end; ++m) {
        T* const line = out + m * step + (dimensions == 3 ? place.line * row_ : 0);
        if (place.pack == 0) line[cells_[0]] = line[0];
        if (place.pack == packs_ - 1) line[-1] = line[cells_[0] - 1];
      }
    if (dimensions < 3 || !with_.wraps[1]) return;
    for (const int end : {0, 1})
      if (place.line == (end == 0 ? 0 : lines_ - 1))
        for (int m = place.begin; m < place.end; ++m) {
          T* const cells = out + m * step + place.pack * width;
          for (int l = 0; l < width; ++l)
            if (place.lanes >> l & 1u) cells[(end == 0 ? lines_ : -1) * row_ + l] = cells[place.line * row_ + l];
        }
  }

  /// The outer rows of the block, where the band has them, to the ghosts of the ranks beyond.
  template <class Member>
  KOKKOS_FUNCTION void send(const Member& team, int own, int begin, int end, int field) const {
    for (int side = 0; side < 2; ++side) {
      if (!at_seam(own, side)) continue;
      const auto step = dimensions == 3 ? plane_ : row_;
      const T* const from = fields_[field] + (side == 0 ? begin : end - 1) * step;
      T* const to = with_.seams[side].ghosts[field];
      for (int column = team.team_rank(); column < packs_ * lines_; column += threads) {
        const auto at = column / packs_ * row_ + column % packs_ * width;
        const unsigned lanes = lanes_of(column % packs_);
        if (lanes == (1u << width) - 1)
          *reinterpret_cast<Vector*>(to + at) = *reinterpret_cast<const Vector*>(from + at);
        else
          for (int l = 0; l < width; ++l)
            if (lanes >> l & 1u) to[at + l] = from[at + l];
      }
    }
  }

  Columns<dimensions, sourced, norm, batch, T, ColumnShape> sweep_[2]; ///< from each field to the other one
  PersistentSweeps<T> with_;
  T* fields_[2]; ///< own cell (0, 0, 0)
  std::int64_t row_, plane_;
  int cells_[3], packs_, lines_, teams_;
};

} // namespace detail

/// Local; waits for nothing. Sweeps of the whole block from `in` to `other` and back, `with.sweeps` of them; all ranks
/// of the block's axis must make as many. How many parts each norm has.
template <class T, class ExecutionSpace>
int sweep_bands(const ExecutionSpace& instance, const SweepInput<T>& in, const SweepInput<T>& other, Norm norm,
                const PersistentSweeps<T>& with) {
  return with_constants(in.block.dimensions, in.source.size() > 0, norm,
                        [&](auto dimensions, auto sourced, auto norm_kind) {
                          using Kernel = detail::Bands<dimensions(), sourced(), norm_kind(), T>;
                          const int teams = bands_of<T>(in.block);
                          using Bounds = Kokkos::LaunchBounds<Kernel::threads, 1>;
                          Kokkos::TeamPolicy<ExecutionSpace, Bounds> policy(instance, teams, Kernel::threads, 1);
                          policy.set_scratch_size(0, Kokkos::PerTeam(64));
                          Kokkos::parallel_for("heat/sweeps", policy, Kernel(in, other, with, teams));
                          return teams;
                        });
}

/// Compiled once, in persistent.cpp.
using BandInstance = FieldView<float>::execution_space;
extern template int sweep_bands(const BandInstance&, const SweepInput<float>&, const SweepInput<float>&, Norm,
                                const PersistentSweeps<float>&);
extern template int sweep_bands(const BandInstance&, const SweepInput<double>&, const SweepInput<double>&, Norm,
                                const PersistentSweeps<double>&);

} // namespace kontor::heat
