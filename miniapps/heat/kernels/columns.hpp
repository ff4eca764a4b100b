// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/column_shape.hpp"
#include "heat/problem/stencil.hpp"
#include "stepping/norm_parts.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

/// The sweep of a device. A thread owns a few neighbouring cells along x, which memory moves in one access, and moves
/// along the slowest axis (y in 2-D, z in 3-D), so that of the neighbours on that axis
/// each is read once and kept in registers.
namespace kontor::heat {

namespace detail {

/// A cell's part of the norm.
template <Norm norm, class T>
KOKKOS_INLINE_FUNCTION double change(T value, T before) {
  const T difference = value - before;
  if constexpr (norm == Norm::none) return 0;
  if constexpr (norm == Norm::max) return difference < 0 ? -difference : difference;
  return static_cast<double>(difference) * static_cast<double>(difference);
}

/// `batch` rows (planes) are loaded before the first of them is computed: so many loads of a thread are under way at a
/// time.
template <int dimensions, bool sourced, Norm norm, int batch, class T, class Boxes>
class Columns {
 public:
  Columns(const SweepInput<T>& in, const FieldView<T>& out, const Boxes& boxes, double* parts)
      : stencil_(in.stencil), inner_(in.stencil.weights(0, 0, 0)), boxes_(boxes), parts_(parts) {
    row_ = static_cast<std::int64_t>(in.u.stride(1));
    plane_ = static_cast<std::int64_t>(in.u.stride(0));
    u_ = grid::own_cell(in.u, dimensions);
    out_ = grid::own_cell(out, dimensions);
    source_ = in.source.data();
    source_row_ = static_cast<std::int64_t>(in.source.stride(1));
    source_plane_ = static_cast<std::int64_t>(in.source.stride(0));
    for (int axis = 0; axis < 3; ++axis) cells_[axis] = in.block.extents[axis];
  }

  /// Without a norm a thread with a column is one of the team; with a norm it is a lane of one, and each of these
  /// leaves a part: to reduce over a whole team takes barriers, which cost a tenth of the sweep.
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if constexpr (norm == Norm::none) {
      sweep_from(team.league_rank(), team.team_rank());
    } else {
      const int thread = team.team_rank();
      const int lanes = boxes_.lanes();
      const double part = stepping::over_lanes<norm>(
          team, lanes, [&](int lane) { return sweep_from(team.league_rank(), thread * lanes + lane); });
      Kokkos::single(Kokkos::PerThread(team), [&] { parts_[team.league_rank() * team.team_size() + thread] = part; });
    }
  }

  /// The cells of one thread, and their part of the norm. taken(value) is given the new values of each row.
  template <class Taken>
  KOKKOS_FUNCTION double sweep_column(const ColumnShape::Place& place, const Taken& taken) const {
    State s;
    s.pack = place.pack;
    s.line = place.line;
    s.m = place.begin;
    s.at = s.m * step() + (dimensions == 3 ? s.line * row_ : 0) + s.x(0);
    s.before = load(u_ + s.at - step());
    s.centre = load(u_ + s.at);
    s.lanes = place.lanes;
    s.all = place.lanes == (1u << width) - 1;
    s.inner = s.x(0) > 0 && s.x(width) < cells_[0];
    if constexpr (dimensions == 3) s.inner = s.inner && s.line > 0 && s.line + 1 < cells_[1];
    double part = 0;
    while (s.m + batch <= place.end) part = joined<norm>(part, advance<batch>(s, taken));
    while (s.m < place.end) part = joined<norm>(part, advance<1>(s, taken));
    return part;
  }

 private:
  using Vector = Pack<T>;
  static constexpr int width = Vector::width;
  static constexpr int column_axis = dimensions - 1;

  /// What a thread carries from row to row.
  struct State {
    int pack;        ///< its cells along x
    int line;        ///< 3-D: its line
    int m;           ///< the next row or plane
    std::int64_t at; ///< where the first cell of row m is, from u_ and out_
    Vector before;   ///< of m - 1
    Vector centre;   ///< of m
    unsigned lanes;  ///< bits: which of its cells are in the box
    bool all;        ///< all of them are
    bool inner;      ///< only m can make the weights of its cells differ

    KOKKOS_FUNCTION std::int64_t x(int l) const { return std::int64_t{pack} * width + l; }
  };

  KOKKOS_FUNCTION static Vector load(const T* p) { return *reinterpret_cast<const Vector*>(p); }
  KOKKOS_FUNCTION std::int64_t step() const { return dimensions == 3 ? plane_ : row_; }

  KOKKOS_FUNCTION double sweep_from(int team, int thread) const {
    const auto place = boxes_.place(team, thread);
    return place.any() ? sweep_column(place, [](const Vector&) {}) : 0;
  }

  /// The next `count` rows.
  template <int count, class Taken>
  KOKKOS_FUNCTION double advance(State& s, const Taken& taken) const {
    Vector ahead[count], south[count], north[count];
    T left[count], right[count];
    for (int r = 0; r < count; ++r) {
      const T* u = u_ + s.at + r * step();
      ahead[r] = load(u + step());
      if constexpr (dimensions == 3) {
        south[r] = load(u - row_);
        north[r] = load(u + row_);
      }
      left[r] = u[-1];
      right[r] = u[width];
    }
    double part = 0;
    for (int r = 0; r < count; ++r) {
      T sum[width];
      for (int l = 0; l < width; ++l) {
        const T lower = l == 0 ? left[r] : s.centre.lane[l == 0 ? 0 : l - 1];
        const T upper = l == width - 1 ? right[r] : s.centre.lane[l == width - 1 ? l : l + 1];
        sum[l] = stencil_.c[0] * (lower + upper);
        if constexpr (dimensions == 3) {
          sum[l] += stencil_.c[1] * (south[r].lane[l] + north[r].lane[l]);
          sum[l] += stencil_.c[2] * (s.before.lane[l] + ahead[r].lane[l]);
        } else {
          sum[l] += stencil_.c[1] * (s.before.lane[l] + ahead[r].lane[l]);
        }
      }
      part = joined<norm>(part, finish(s, sum, taken));
      s.before = s.centre;
      s.centre = ahead[r];
      s.at += step();
      ++s.m;
    }
    return part;
  }

  /// From the sums over neighbours to the new values of row m.
  template <class Taken>
  KOKKOS_FUNCTION double finish(const State& s, const T (&sum)[width], const Taken& taken) const {
    Vector value;
    if (s.inner && s.m > 0 && s.m + 1 < cells_[column_axis]) {
      for (int l = 0; l < width; ++l) value.lane[l] = update(s, l, sum[l], inner_);
    } else {
      for (int l = 0; l < width; ++l) value.lane[l] = update(s, l, sum[l], weights(s, l));
    }
    taken(value);
    T* out = out_ + s.at;
    double part = 0;
    if (s.all) {
      *reinterpret_cast<Vector*>(out) = value;
      for (int l = 0; l < width; ++l) part = joined<norm>(part, change<norm>(value.lane[l], s.centre.lane[l]));
    } else {
      for (int l = 0; l < width; ++l)
        if (s.lanes >> l & 1u) {
          out[l] = value.lane[l];
          part = joined<norm>(part, change<norm>(value.lane[l], s.centre.lane[l]));
        }
    }
    return part;
  }

  KOKKOS_FUNCTION T update(const State& s, int l, T sum, const typename Stencil<T>::Weights& w) const {
    if constexpr (sourced)
      if (s.lanes >> l & 1u)
        sum += source_[(dimensions == 3 ? s.m * source_plane_ + s.line * source_row_ : s.m * source_row_) + s.x(l)];
    return w.keep * s.centre.lane[l] + w.gain * sum;
  }

  KOKKOS_FUNCTION typename Stencil<T>::Weights weights(const State& s, int l) const {
    const auto j = dimensions == 3 ? s.line : s.m;
    return stencil_.weights(stencil_.extra(0, s.x(l), cells_[0]), stencil_.extra(1, j, cells_[1]),
                            dimensions == 3 ? stencil_.extra(2, s.m, cells_[2]) : T(0));
  }

  const T* u_; ///< own cell (0, 0, 0), as all pointers here
  T* out_;
  const T* source_;
  std::int64_t row_, plane_, source_row_, source_plane_; ///< strides; those of out are those of u
  std::int64_t cells_[3];
  Stencil<T> stencil_;
  typename Stencil<T>::Weights inner_; ///< of cells at no face
  Boxes boxes_;
  double* parts_;
};

} // namespace detail

/// Local; waits for nothing. Updates the cells of the boxes, a ColumnShape or ColumnShapes, as sweep() does. With a
/// norm it leaves the norm's parts in `parts`, boxes.parts() numbers in the device's memory for combine(). The fields
/// must outlive the kernel. `batch` 0: the usual one.
template <int batch = 0, class T, class ExecutionSpace, class Boxes>
void sweep_columns(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, const Boxes& boxes,
                   Norm norm, double* parts = nullptr) {
  if (boxes.teams() == 0) return;
  with_constants(in.block.dimensions, in.source.size() > 0, norm, [&](auto dimensions, auto sourced, auto norm_kind) {
    const int lanes = norm_kind() == Norm::none ? 1 : boxes.lanes();
    const Kokkos::TeamPolicy<ExecutionSpace> policy(instance, boxes.teams(), boxes.team() / lanes, lanes);
    constexpr int ahead = batch > 0 ? batch : usual_tuning<T>(dimensions(), norm_kind() != Norm::none).batch;
    Kokkos::parallel_for("heat/sweep", policy,
                         detail::Columns<dimensions(), sourced(), norm_kind(), ahead, T, Boxes>(in, out, boxes, parts));
  });
}

/// Compiled once, in columns.cpp.
using ColumnInstance = FieldView<float>::execution_space;
using ColumnBoxes = ColumnShapes<FieldView<float>::memory_space>;
extern template void sweep_columns(const ColumnInstance&, const SweepInput<float>&, const FieldView<float>&,
                                   const ColumnShape&, Norm, double*);
extern template void sweep_columns(const ColumnInstance&, const SweepInput<float>&, const FieldView<float>&,
                                   const ColumnBoxes&, Norm, double*);
extern template void sweep_columns(const ColumnInstance&, const SweepInput<double>&, const FieldView<double>&,
                                   const ColumnShape&, Norm, double*);
extern template void sweep_columns(const ColumnInstance&, const SweepInput<double>&, const FieldView<double>&,
                                   const ColumnBoxes&, Norm, double*);

} // namespace kontor::heat
