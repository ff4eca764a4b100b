// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/bands.hpp"
#include "heat/kernels/columns.hpp"

#include <kontor/device/unroll.hpp>

/// Sweeps of a plate that stays in registers: a kernel reads the field once and writes it once. A thread finds
/// neighbours' cells along x in its warp, and those of other warps in the team's scratch memory. See L. Zhang et al.,
/// "PERKS: a locality-optimized execution model for iterative memory-bound GPU applications", ICS 2023.
namespace kontor::heat::detail {

/// `ends`: a norm may end sweeps.
template <bool sourced, Norm norm, bool ends, int width, class T>
class RegisterBands {
 public:
  RegisterBands(const SweepInput<T>& in, const SweepInput<T>& other, const PersistentSweeps& with)
      : stencil_(in.stencil), inner_(in.stencil.weights(0, 0, 0)), with_(with), source_(in.source.data()),
        source_row_(static_cast<std::int64_t>(in.source.stride(1))), row_(static_cast<std::int64_t>(in.u.stride(1))),
        nx_(static_cast<int>(in.block.extents[0])), ny_(static_cast<int>(in.block.extents[1])) {
    from_ = grid::own_cell(in.u, 2);
    to_ = grid::own_cell((with.sweeps % 2 == 0 ? in : other).u, 2);
  }

  static std::size_t scratch_bytes() { return sizeof(Scratch) + alignof(Scratch); }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (with_.stop.has_ended()) return;
    auto& scratch = *static_cast<Scratch*>(team.team_shmem().get_shmem_aligned(sizeof(Scratch), alignof(Scratch)));
    const auto thread = place(team.league_rank(), team.team_rank());
    Row cells[rows];
    load(thread, cells, scratch);
    if (team.team_rank() == 0) scratch.failed = 0;
    for (int k = team.team_rank(); k < 16; k += band_threads) {
      const auto extra = [&](int axis, int faces) {
        return (faces & 1 ? stencil_.adjust[2 * axis] : T(0)) + (faces & 2 ? stencil_.adjust[2 * axis + 1] : T(0));
      };
      scratch.at_faces[k / 4][k % 4] = stencil_.weights(extra(0, k % 4), extra(1, k / 4), T(0));
    }
    team.team_barrier();
    for (int sweep = 1; sweep <= with_.sweeps; ++sweep) {
      double part = advance(thread, cells, scratch, sweep);
      if constexpr (norm != Norm::none) {
        // The norm of the sweep before, which has travelled meanwhile.
        const auto number = with_.begin + static_cast<device::Counter>(sweep);
        if (ends && with_.may_end(sweep - 1) &&
            with_.stop.template ends<norm>(team, (sweep - 1) / with_.norm_every, number - 1, scratch.failed))
          return;
        if (with_.has_norm(sweep)) {
          const int n = sweep / with_.norm_every;
          part = stepping::detail::over_team<norm>(team, part);
          if (team.team_rank() == 0) with_.parts[(n - 1) * with_.registers.bands + team.league_rank()] = part;
          if (ends && with_.may_end(sweep)) with_.stop.send(team, n, part);
        }
      }
      team.team_barrier();
      if (scratch.failed != 0) return;
    }
    device::unroll<rows>([&](auto r) {
      for (int l = 0; l < width; ++l)
        if (r >= thread.skip && thread.x + l < nx_) to_[thread.line(r) * row_ + thread.x + l] = cells[r].lane[l];
    });
  }

 private:
  using Weights = typename Stencil<T>::Weights;
  static constexpr int rows = register_rows<T>;
  static constexpr int warps = band_threads / device::lanes;
  static constexpr bool has_groups = width == pack_width<T>;

  /// A thread's cells of a row.
  struct alignas(pack_bytes) Row {
    T lane[width];
  };

  /// What threads find of other warps in even and in odd sweeps.
  struct Scratch {
    T beside[2][2][warps][rows];                                      ///< [sweep][left, right]
    Row beyond[has_groups ? 2 : 1][2][has_groups ? band_threads : 1]; ///< [sweep][lower, upper], of another group
    Weights at_faces[4][4]; ///< [y][x], each 1 at the lower face plus 2 at the upper one
    int failed;
  };

  /// Where a thread is.
  struct Thread {
    int band, rank, warp;
    int group, groups;
    int column, x;    ///< its first cell; nx if it has none
    int first, skip;  ///< its first row, and the registers before it that are not used
    bool left, right; ///< whether its neighbours along x are in another warp, or ghosts

    KOKKOS_FUNCTION int line(int r) const { return first + r - skip; }
    KOKKOS_FUNCTION bool is_outer(int side) const { return group == (side == 0 ? 0 : groups - 1); }
  };

  KOKKOS_FORCEINLINE_FUNCTION Thread place(int band, int rank) const {
    const auto& shape = with_.registers;
    Thread t{};
    t.band = band;
    t.rank = rank;
    t.warp = rank / device::lanes;
    t.group = rank / shape.stride;
    t.column = rank % shape.stride;
    t.x = t.column < shape.columns ? t.column * width : nx_;
    const auto begin_of = [&](int b) { return static_cast<int>(static_cast<std::int64_t>(ny_) * b / shape.bands); };
    const int begin = begin_of(band), count = begin_of(band + 1) - begin;
    t.groups = shape.groups < count ? shape.groups : count;
    const bool works = t.group < t.groups;
    t.first = begin + (works ? count * t.group / t.groups : 0);
    t.skip = works ? rows - (begin + count * (t.group + 1) / t.groups - t.first) : rows;
    t.left = rank % device::lanes == 0;
    t.right = rank % device::lanes == device::lanes - 1 || t.x + width == nx_;
    return t;
  }

  /// The cells of a thread, and the ghosts beside them, which no sweep changes.
  KOKKOS_FORCEINLINE_FUNCTION void load(const Thread& t, Row (&cells)[rows], Scratch& scratch) const {
    const bool is_last = t.x + width == nx_;
    device::unroll<rows>([&](auto r) {
      const bool any = r >= t.skip && t.x < nx_;
      const T* const row = from_ + t.line(r) * row_ + t.x;
      for (int l = 0; l < width; ++l) cells[r].lane[l] = any && t.x + l <= nx_ ? row[l] : T(0);
      for (int odd = 0; odd < 2 && any; ++odd) {
        if (t.left && (odd == 0 || t.column == 0)) scratch.beside[odd][0][t.warp][r] = row[-1];
        if (t.right && (odd == 0 || is_last)) scratch.beside[odd][1][t.warp][r] = row[width];
      }
      if (any && r == t.skip) pass_on(t, 0, cells[r], 0, with_.begin, scratch);
      if (any && r == rows - 1) pass_on(t, 1, cells[r], 0, with_.begin, scratch);
    });
  }

  /// The last row is computed first: it travels meanwhile.
  KOKKOS_FORCEINLINE_FUNCTION double advance(const Thread& t, Row (&cells)[rows], Scratch& scratch, int sweep) const {
    if (t.skip == rows) return 0;
    constexpr int last = rows - 1;
    const int now = (sweep - 1) % 2;
    const auto number = with_.begin + static_cast<device::Counter>(sweep);
    const bool goes_on = sweep < with_.sweeps;
    Row before = beyond(t, 0, now, number - 1, scratch);
    const Row after = beyond(t, 1, now, number - 1, scratch);
    double part = 0;
    Row below = before;
    if (t.skip < last) below = cells[last - 1];
    const Row upper = updated(t, last, below, cells[last], after, now, scratch, part);
    if (goes_on) pass_on(t, 1, upper, 1 - now, number, scratch);
    device::unroll<last>([&](auto r) {
      if (r < t.skip) return;
      const Row value = updated(t, r, before, cells[r], cells[r + 1], now, scratch, part);
      if (goes_on && r == t.skip) pass_on(t, 0, value, 1 - now, number, scratch);
      before = cells[r];
      cells[r] = value;
    });
    if (goes_on && t.skip == last) pass_on(t, 0, upper, 1 - now, number, scratch);
    cells[last] = upper;
    return part;
  }

  /// By whole warps. A row's new values, those at a warp's ends for other warps, too.
  KOKKOS_FORCEINLINE_FUNCTION Row updated(const Thread& t, int r, const Row& before, const Row& centre,
                                          const Row& ahead, int now, Scratch& scratch, double& part) const {
    T left = device::from_lane<-1>(centre.lane[width - 1]), right = device::from_lane<1>(centre.lane[0]);
    if (t.left) left = scratch.beside[now][0][t.warp][r];
    if (t.right) right = scratch.beside[now][1][t.warp][r];
    const int m = t.line(r);
    const bool inner = m > 0 && m + 1 < ny_ && t.x > 0 && t.x + width < nx_;
    Row value = centre;
    for (int l = 0; l < width; ++l) {
      if (t.x + l >= nx_) continue;
      const T lower = l == 0 ? left : centre.lane[l == 0 ? 0 : l - 1];
      const T upper = l == width - 1 ? right : centre.lane[l == width - 1 ? l : l + 1];
      T sum = stencil_.c[0] * (lower + upper);
      sum += stencil_.c[1] * (before.lane[l] + ahead.lane[l]);
      if constexpr (sourced) sum += source_[m * source_row_ + t.x + l];
      const auto w = inner ? inner_ : scratch.at_faces[faces_of(m, ny_)][faces_of(t.x + l, nx_)];
      value.lane[l] = w.keep * centre.lane[l] + w.gain * sum;
      part = joined<norm>(part, change<norm>(value.lane[l], centre.lane[l]));
    }
    if (t.x >= nx_) return value;
    if (t.right && t.x + width < nx_) scratch.beside[1 - now][0][t.warp + 1][r] = value.lane[width - 1];
    if (t.left && t.column > 0) scratch.beside[1 - now][1][t.warp - 1][r] = value.lane[0];
    return value;
  }

  KOKKOS_FORCEINLINE_FUNCTION static int faces_of(int index, int cells) {
    return (index == 0 ? 1 : 0) + (index == cells - 1 ? 2 : 0);
  }

  /// The row below or above those of a thread.
  KOKKOS_FORCEINLINE_FUNCTION Row beyond(const Thread& t, int side, int now, device::Counter number,
                                         Scratch& scratch) const {
    Row row{};
    if (t.x >= nx_) return row;
    if constexpr (has_groups)
      if (!t.is_outer(side)) return scratch.beyond[now][side][t.rank];
    const auto border = with_.border_of(t.band, side, with_.registers.bands);
    if (border.from != nullptr) {
      if (!receive_cells(with_.wait, border, with_.registers.columns, t.column, number, row)) scratch.failed = 1;
      return row;
    }
    const T* const ghosts = from_ + (side == 0 ? -1 : ny_) * row_ + t.x; // equal in both fields
    for (int l = 0; l < width; ++l)
      if (t.x + l < nx_) row.lane[l] = ghosts[l];
    return row;
  }

  /// A thread's first or last row, to where it is beyond() those of another.
  KOKKOS_FORCEINLINE_FUNCTION void pass_on(const Thread& t, int side, const Row& row, int next, device::Counter number,
                                           Scratch& scratch) const {
    if (t.x >= nx_) return;
    const int stride = with_.registers.stride;
    if constexpr (has_groups)
      if (!t.is_outer(side)) {
        scratch.beyond[next][1 - side][t.rank + (side == 0 ? -stride : stride)] = row;
        return;
      }
    const auto border = with_.border_of(t.band, side, with_.registers.bands);
    if (border.to != nullptr) send_cells(border, with_.registers.columns, t.column, number, row);
  }

  Stencil<T> stencil_;
  Weights inner_; ///< of cells at no face
  PersistentSweeps with_;
  const T* from_; ///< own cell (0, 0), as all pointers here
  T* to_;
  const T* source_;
  std::int64_t source_row_, row_;
  int nx_, ny_;
};

/// See sweep_bands().
template <class T, class ExecutionSpace>
void sweep_registers(const ExecutionSpace& instance, const SweepInput<T>& in, const SweepInput<T>& other, Norm norm,
                     const PersistentSweeps& with) {
  const auto sweep = [&](auto width) {
    const auto launch = [&](auto sourced, auto norm_kind, auto ends) {
      using Kernel = RegisterBands<sourced(), norm_kind(), ends(), width(), T>;
      using Bounds = Kokkos::LaunchBounds<band_threads, 1>;
      Kokkos::TeamPolicy<ExecutionSpace, Bounds> policy(instance, with.registers.bands, band_threads, 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes()));
      Kokkos::parallel_for("heat/sweeps", policy, Kernel(in, other, with));
    };
    with_constants(2, in.source.size() > 0, norm, [&](auto, auto sourced, auto norm_kind) {
      if (with.stop.below > 0)
        launch(sourced, norm_kind, std::bool_constant<norm_kind() != Norm::none>());
      else
        launch(sourced, norm_kind, std::false_type());
    });
  };
  if (with.registers.width == pack_width<T>)
    sweep(std::integral_constant<int, pack_width<T>>());
  else
    sweep(std::integral_constant<int, 4>());
}

/// Compiled once, in register_bands.cpp.
using RegisterInstance = FieldView<float>::execution_space;
extern template void sweep_registers(const RegisterInstance&, const SweepInput<float>&, const SweepInput<float>&, Norm,
                                     const PersistentSweeps&);
extern template void sweep_registers(const RegisterInstance&, const SweepInput<double>&, const SweepInput<double>&,
                                     Norm, const PersistentSweeps&);

} // namespace kontor::heat::detail
