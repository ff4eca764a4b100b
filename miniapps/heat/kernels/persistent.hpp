// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/columns.hpp"
#include "heat/kernels/register_bands.hpp"

/// Sweeps by bands that stay in memory, for boxes that do not fit into registers. A team writes the outer rows of a
/// field for sweep n + 1 after its neighbours have told that theirs of sweep n are complete. These were the last to
/// read what it overwrites. Other ranks' rows travel as words.
namespace kontor::heat {

namespace detail {

/// Sweeps go from field `from` to the other one and back.
template <int dimensions, bool sourced, Norm norm, class T>
class Bands {
 public:
  static constexpr int threads = band_threads;
  static constexpr int batch = dimensions == 3 ? 2 : 4;

  Bands(const SweepInput<T>& in, const SweepInput<T>& other, const PersistentSweeps& with, int teams)
      : sweep_{{in, other.u, ColumnShape(), nullptr}, {other, in.u, ColumnShape(), nullptr}}, with_(with),
        teams_(teams) {
    row_ = static_cast<std::int64_t>(in.u.stride(1));
    plane_ = static_cast<std::int64_t>(in.u.stride(0));
    fields_[0] = grid::own_cell(in.u, dimensions);
    fields_[1] = grid::own_cell(other.u, dimensions);
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
    send_first(team, own, begin, end);
    for (int sweep = 1; sweep <= with_.sweeps; ++sweep) {
      const int from = (sweep - 1) % 2;
      const auto due = with_.begin + static_cast<device::Counter>(sweep);
      if (sweep > 1)
        each_side(team, [&](int side) {
          if (has_neighbour(own, side) && !with_.wait.until_own(with_.counters.of(own, side), due - 1)) failed = 1;
        });
      team.team_barrier();
      const bool sends = at_border(own, 0) || at_border(own, 1);
      double part = sends ? outer_rows(team, own, from, begin, end, due, failed) : whole_rows(team, from, begin, end);
      team.team_barrier();
      if (failed != 0) return;
      each_side(team, [&](int side) {
        if (has_neighbour(own, side))
          device::store_release_on_device(with_.counters.of(side == 0 ? own - 1 : own + 1, 1 - side), due);
      });
      if (sends) part = joined<norm>(part, whole_rows(team, from, begin + 1, end - 1));
      if constexpr (norm != Norm::none) {
        if (!with_.has_norm(sweep)) continue;
        const int n = sweep / with_.norm_every;
        part = stepping::detail::over_team<norm>(team, part);
        if (team.team_rank() == 0) with_.parts[(n - 1) * teams_ + own] = part;
        if (!with_.may_end(sweep)) continue;
        with_.stop.send(team, n, part);
        if (with_.stop.template ends<norm>(team, n, due, failed)) return;
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
  /// Whether another band of this rank is there.
  KOKKOS_FUNCTION bool has_neighbour(int own, int side) const { return own != (side == 0 ? 0 : teams_ - 1); }
  KOKKOS_FUNCTION bool at_border(int own, int side) const {
    return !has_neighbour(own, side) && with_.borders[side].rank != comm::no_rank;
  }
  KOKKOS_FUNCTION std::int64_t step() const { return dimensions == 3 ? plane_ : row_; }
  /// Where the first cell of a column lies, from row 0's.
  KOKKOS_FUNCTION std::int64_t place_of(int column) const { return column / packs_ * row_ + column % packs_ * width; }

  /// By one thread a side, of different warps, so that they wait side by side.
  template <class Member, class Work>
  KOKKOS_FUNCTION static void each_side(const Member& team, const Work& work) {
    constexpr int warp = 32;
    for (int side = 0; side < 2; ++side)
      if (team.team_rank() == (threads > warp ? side * warp : 0)) work(side);
  }

  /// The rows that other bands read, which read theirs, by all threads of the team.
  template <class Member>
  KOKKOS_FUNCTION double outer_rows(const Member& team, int own, int from, int begin, int end, device::Counter due,
                                    int& failed) const {
    const int columns = packs_ * lines_;
    double part = 0;
    for (int item = team.team_rank(); item < (end - begin > 1 ? 2 : 1) * columns; item += threads) {
      const int column = item % columns, row = item < columns ? begin : end - 1;
      const bool borders[2] = {row == begin && at_border(own, 0), row == end - 1 && at_border(own, 1)};
      for (int side = 0; side < 2; ++side)
        if (borders[side] && !receive(from, side, column, due - 1)) failed = 1;
      const auto send_to = [&](const Vector& value) {
        for (int side = 0; side < 2; ++side)
          if (borders[side] && due < with_.begin + static_cast<device::Counter>(with_.sweeps))
            send(side, column, due, value);
      };
      part = joined<norm>(part, sweep(from, column, row, row + 1, send_to));
    }
    return part;
  }

  template <class Member>
  KOKKOS_FUNCTION double whole_rows(const Member& team, int from, int begin, int end) const {
    const int columns = packs_ * lines_, rows = end - begin;
    if (rows <= 0) return 0;
    const int side_by_side = columns < threads ? threads / columns : 1;
    const int share = (rows + side_by_side - 1) / side_by_side;
    const int chunks = (rows + share - 1) / share;
    double part = 0;
    for (int item = team.team_rank(); item < columns * chunks; item += threads) {
      const int first = begin + item / columns * share;
      part = joined<norm>(
          part, sweep(from, item % columns, first, first + share < end ? first + share : end, [](const Vector&) {}));
    }
    return part;
  }

  /// A column's rows [begin, end).
  template <class Taken>
  KOKKOS_FUNCTION double sweep(int from, int column, int begin, int end, const Taken& taken) const {
    const int pack = column % packs_;
    const ColumnShape::Place place{pack, lanes_of(pack), column / packs_, begin, end};
    const double part = sweep_[from].sweep_column(place, taken);
    wrap(fields_[1 - from], place);
    return part;
  }

  /// To the ghosts of field `from`. False: the row has not come.
  KOKKOS_FUNCTION bool receive(int from, int side, int column, device::Counter row) const {
    Vector value;
    if (!receive_cells(with_.wait, with_.borders[side], packs_ * lines_, column, row, value)) return false;
    *reinterpret_cast<Vector*>(fields_[from] + (side == 0 ? -1 : cells_[slow]) * step() + place_of(column)) = value;
    return true;
  }
  KOKKOS_FUNCTION void send(int side, int column, device::Counter row, const Vector& value) const {
    send_cells(with_.borders[side], packs_ * lines_, column, row, value);
  }
  /// The rows that the first sweep of other ranks reads.
  template <class Member>
  KOKKOS_FUNCTION void send_first(const Member& team, int own, int begin, int end) const {
    for (int side = 0; side < 2; ++side)
      for (int column = team.team_rank(); at_border(own, side) && column < packs_ * lines_; column += threads)
        send(side, column, with_.begin,
             *reinterpret_cast<const Vector*>(fields_[0] + (side == 0 ? begin : end - 1) * step() + place_of(column)));
  }

  KOKKOS_FUNCTION unsigned lanes_of(int pack) const {
    const int cells = cells_[0] - pack * width;
    return cells >= width ? (1u << width) - 1 : (1u << cells) - 1;
  }

  /// What was written at one end of an axis that wraps is the ghost at the other end.
  KOKKOS_FUNCTION void wrap(T* out, const ColumnShape::Place& place) const {
    if (with_.wraps[0] && (place.pack == 0 || place.pack == packs_ - 1))
      for (int m = place.begin; m < place.end; ++m) {
        T* const line = out + m * step() + (dimensions == 3 ? place.line * row_ : 0);
        if (place.pack == 0) line[cells_[0]] = line[0];
        if (place.pack == packs_ - 1) line[-1] = line[cells_[0] - 1];
      }
    if constexpr (dimensions == 3)
      for (int end = 0; end < 2; ++end) {
        if (!with_.wraps[1] || place.line != (end == 0 ? 0 : lines_ - 1)) continue;
        for (int m = place.begin; m < place.end; ++m) {
          T* const cells = out + m * step() + place.pack * width;
          for (int l = 0; l < width; ++l)
            if (place.lanes >> l & 1u) cells[(end == 0 ? lines_ : -1) * row_ + l] = cells[place.line * row_ + l];
        }
      }
  }

  Columns<dimensions, sourced, norm, batch, T, ColumnShape> sweep_[2]; ///< from each field to the other one
  PersistentSweeps with_;
  T* fields_[2]; ///< own cell (0, 0, 0)
  std::int64_t row_, plane_;
  int cells_[3], packs_, lines_, teams_;
};

} // namespace detail

/// Local; waits for nothing. Sweeps of the whole block from `in` to `other` and back, `with.sweeps` of them; all ranks
/// of the block's axis must make as many.
template <class T, class ExecutionSpace>
void sweep_bands(const ExecutionSpace& instance, const SweepInput<T>& in, const SweepInput<T>& other, Norm norm,
                 const PersistentSweeps& with) {
  using Bounds = Kokkos::LaunchBounds<band_threads, 1>;
  if (with.registers.width > 0) return detail::sweep_registers(instance, in, other, norm, with);
  const int teams = teams_of<T>(in.block, with.registers);
  with_constants(in.block.dimensions, in.source.size() > 0, norm, [&](auto dimensions, auto sourced, auto norm_kind) {
    using Kernel = detail::Bands<dimensions(), sourced(), norm_kind(), T>;
    Kokkos::TeamPolicy<ExecutionSpace, Bounds> policy(instance, teams, band_threads, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(64));
    Kokkos::parallel_for("heat/sweeps", policy, Kernel(in, other, with, teams));
  });
}

/// Compiled once, in persistent.cpp.
using BandInstance = FieldView<float>::execution_space;
extern template void sweep_bands(const BandInstance&, const SweepInput<float>&, const SweepInput<float>&, Norm,
                                 const PersistentSweeps&);
extern template void sweep_bands(const BandInstance&, const SweepInput<double>&, const SweepInput<double>&, Norm,
                                 const PersistentSweeps&);

} // namespace kontor::heat
