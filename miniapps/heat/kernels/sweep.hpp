// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/pass_shape.hpp"
#include "heat/kernels/rings.hpp"
#include "heat/kernels/row.hpp"
#include "heat/kernels/tiles.hpp"
#include "heat/names.hpp"
#include "heat/problem/stencil.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

/// Sweeps over a box of cells on a CPU, one or several at a time. Kernels are free functions of Views and numbers; they
/// run on the instance and, without a norm, do not wait for it.
namespace kontor::heat {

namespace detail {

/// A pass over a tile: `sweeps` sweeps, each a row (2-D) or plane (3-D) behind the one before, so that what one writes
/// the next one finds in cache. Planes advance together, row by row: memory serves the first and the last sweep while
/// those between compute. Only the last one writes to `out`. The others leave two planes and a row each in a ring of
/// the thread's own, and compute a margin that shrinks by one cell from sweep to sweep: other threads and ranks
/// compute it again, and nobody waits. See Nguyen et al., "3.5-D blocking optimization for stencil computations", SC10.
template <int dimensions, bool sourced, Norm norm, bool streaming, class T>
class Pass {
 public:
  Pass(const SweepInput<T>& in, const FieldView<T>& out, const PassShape& shape)
      : sweeps_(shape.sweeps), prefetch_(shape.prefetch), source_(in.source.data()), stencil_(in.stencil),
        inner_(in.stencil, {in.block.extents[0], 3, 3}, 1, 1) {
    plane_ = static_cast<std::int64_t>(in.u.stride(0));
    row_ = static_cast<std::int64_t>(in.u.stride(1));
    source_plane_ = static_cast<std::int64_t>(in.source.stride(0));
    source_row_ = static_cast<std::int64_t>(in.source.stride(1));
    u_ = grid::own_cell(in.u, dimensions);
    out_ = grid::own_cell(out, dimensions);
    for (int axis = 0; axis < 3; ++axis) {
      cells_[axis] = in.block.extents[axis];
      for (int face = 2 * axis; face < 2 * axis + 2; ++face) ends_[face] = in.block.at_boundary(face);
    }
  }

  /// Bands have so many rows (1 in 2-D).
  double operator()(const Box& tile, std::int64_t band, T* room) const {
    std::vector<Slabs> slabs(static_cast<std::size_t>(sweeps_));
    double result = 0;
    Box all = tile;
    for (int axis = 0; axis < 3; ++axis) {
      all.begin[axis] = first(tile, 1, axis);
      all.end[axis] = last(tile, 1, axis);
    }
    for (Rings rings(all, tile.end[1], sweeps_, band, room); rings.y < rings.end; rings.next(band))
      for (auto front = first(tile, 1, slow) + 1; front < tile.end[slow] + sweeps_; ++front) {
        for (int sweep = 1; sweep <= sweeps_; ++sweep) slabs[sweep - 1] = slabs_of(rings, tile, sweep, front - sweep);
        for (auto j = rings.y - (dimensions == 3 ? sweeps_ - 1 : 0); j < rings.y + band; ++j)
          for (int sweep = 1; sweep <= sweeps_; ++sweep)
            if (const auto& of = slabs[sweep - 1]; j >= of.begin && j < of.end)
              result = joined<norm>(result, update(rings, of, tile, sweep, j));
      }
    if constexpr (streaming) miniapp::stream_fence();
    return result;
  }

 private:
  static constexpr int slow = dimensions - 1;
  using Slab = PassSlab<dimensions, T>;
  using Rings = PassRings<dimensions, T>;

  /// The cells that a sweep computes: the tile and a margin, which ends where the whole grid does.
  std::int64_t first(const Box& tile, int sweep, int axis) const {
    const auto begin = tile.begin[axis] - (sweeps_ - sweep);
    return ends_[2 * axis] && begin < 0 ? 0 : begin;
  }
  std::int64_t last(const Box& tile, int sweep, int axis) const {
    const auto end = tile.end[axis] + (sweeps_ - sweep);
    return ends_[2 * axis + 1] && end > cells_[axis] ? cells_[axis] : end;
  }
  Slab before_all(std::int64_t m) const { return {const_cast<T*>(u_) + m * (dimensions == 3 ? plane_ : row_), row_}; }
  bool beyond(std::int64_t m) const { return (m < 0 && ends_[2 * slow]) || (m >= cells_[slow] && ends_[2 * slow + 1]); }

  /// What a sweep of row or plane `m` reads and writes, and its rows [begin, end).
  struct Slabs {
    Slab u, centre, lower, upper, to;
    std::int64_t m = 0, begin = 0, end = 0;
  };
  Slabs slabs_of(const Rings& rings, const Box& tile, int sweep, std::int64_t m) const {
    if (m < first(tile, sweep, slow) || m >= last(tile, sweep, slow)) return {};
    // What lies beyond the grid does not change.
    const auto after_last = [&](std::int64_t n) {
      return sweep == 1 || beyond(n) ? before_all(n) : rings.slab(sweep - 1, n);
    };
    const Slab u = before_all(m);
    const Slab to = sweep < sweeps_ ? rings.slab(sweep, m) : Slab{out_ + (u.first - u_), row_};
    Slabs slabs{u, after_last(m), after_last(m - 1), after_last(m + 1), to, m, 0, 1};
    if constexpr (dimensions == 3) {
      slabs.begin = std::max(first(tile, sweep, 1), rings.begin(sweep));
      slabs.end = std::min(last(tile, sweep, 1), rings.begin(sweep) + rings.rows + 2);
    }
    return slabs;
  }

  /// Row j of them.
  double update(const Rings& rings, const Slabs& of, const Box& tile, int sweep, std::int64_t j) const {
    auto begin = tile.begin[0], end = tile.end[0];
    if (sweep < sweeps_) {
      begin = Rings::line_before(first(tile, sweep, 0));
      end = Rings::line_after(last(tile, sweep, 0));
    }
    Row<T> row{of.centre.row(j), of.lower.row(j), of.upper.row(j), nullptr, nullptr, nullptr, of.to.row(j)};
    auto prefetch = sweep == 1 ? prefetch_ : 0;
    if constexpr (dimensions == 3) {
      row.below = row.south;
      row.above = row.north;
      row.south = j == 0 && ends_[2] ? of.u.row(-1) : of.centre.row(j - 1);
      row.north = j == cells_[1] - 1 && ends_[3] ? of.u.row(j + 1) : of.centre.row(j + 1);
      if (prefetch > 0) { // rows of the tile, in this plane or the next one
        const auto band = rings.rows + 2, rows = std::min<std::int64_t>(band, 1 + prefetch / (sizeof(T) * rings.row));
        const auto cells = rows * row_ + (j + rows < rings.y + band ? 0 : plane_ - band * row_);
        prefetch = static_cast<std::uintptr_t>(cells) * sizeof(T);
      }
    }
    const auto y = dimensions == 3 ? j : of.m;
    if constexpr (sourced)
      row.source = source_ + (dimensions == 3 ? of.m * source_plane_ + j * source_row_ : y * source_row_);
    const bool face = y == 0 || y == cells_[1] - 1 || (dimensions == 3 && (of.m == 0 || of.m == cells_[2] - 1));
    const auto weights = face ? Weights(stencil_, cells_, y, of.m) : inner_;
    return update(row, weights, of.u.row(j), sweep, begin, end, prefetch);
  }

  /// Of the cells of a row.
  struct Weights {
    Weights(const Stencil<T>& s, const std::int64_t (&cells)[3], std::int64_t j, std::int64_t k) {
      const T y = s.extra(1, j, cells[1]), z = dimensions == 3 ? s.extra(2, k, cells[2]) : T(0);
      lower = s.weights(s.extra(0, 0, cells[0]), y, z);
      inner = s.weights(0, y, z);
      upper = s.weights(s.extra(0, cells[0] - 1, cells[0]), y, z);
    }
    typename Stencil<T>::Weights lower, inner, upper;
  };

  /// Cells [begin, end) of a row.
  double update(const Row<T>& row, const Weights& weights, const T* u, int sweep, std::int64_t begin, std::int64_t end,
                std::uintptr_t prefetch) const {
    const bool lower = ends_[0] && begin == 0, upper = ends_[1] && end >= cells_[0];
    if (sweep == sweeps_ && (streaming || norm != Norm::none)) {
      double result = 0;
      if (lower) result = at_end(row, weights.lower, begin++);
      if (upper && begin < end) result = joined<norm>(result, at_end(row, weights.upper, --end));
      return joined<norm>(
          result, update_row<dimensions, sourced, norm, streaming>(row, stencil_, weights.inner, begin, end, prefetch));
    }
    // Whole vectors from the beginning of a line; then the cells at the ends again, whose weights differ.
    update_row<dimensions, sourced, Norm::none, false>(row, stencil_, weights.inner, begin, end, prefetch);
    if (lower) at_end(row, weights.lower, 0);
    if (upper) at_end(row, weights.upper, cells_[0] - 1);
    if (sweep == sweeps_) return 0;
    if (lower) row.out[-1] = u[-1];
    if (upper) row.out[cells_[0]] = u[cells_[0]];
    return 0;
  }

  double at_end(const Row<T>& row, typename Stencil<T>::Weights w, std::int64_t i) const {
    const T value = updated<dimensions, sourced>(row, stencil_, w, i), change = value - row.centre[i];
    row.out[i] = value;
    if constexpr (norm == Norm::none) return 0;
    return norm == Norm::max ? std::abs(change) : static_cast<double>(change) * static_cast<double>(change);
  }

  int sweeps_;
  std::uintptr_t prefetch_;
  const T *u_, *source_; ///< cell (0, 0, 0), as that of out
  T* out_;
  std::int64_t row_, plane_, source_row_, source_plane_; ///< strides; those of out are those of u
  std::int64_t cells_[3];
  bool ends_[6]; ///< faces where the whole grid ends
  Stencil<T> stencil_;
  Weights inner_; ///< of rows at no face
};

} // namespace detail

/// Room of the threads for what is between the sweeps of a pass; grows when a pass needs more.
template <class T>
using PassRoom = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Local. On a CPU: `shape.sweeps` sweeps of `box`, whose ghost cells must be valid: as many layers of them as sweeps,
/// edges and corners included. A norm is that of a single sweep.
template <class T, class ExecutionSpace>
double sweep_in_rows(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, const Box& box,
                     Norm norm, const PassShape& shape, PassRoom<T>& room) {
  const auto with_stores = [&](auto streamed) {
    return with_constants(
        in.block.dimensions, in.source.size() > 0, norm, [&](auto dimensions, auto sourced, auto norm_kind) -> double {
          const detail::Pass<dimensions(), sourced(), norm_kind(), streamed(), T> pass(in, out, shape);
          const auto threads = static_cast<std::int64_t>(instance.concurrency());
          const Tiles tiles(box, dimensions(), shape.sweeps, shape.cache / static_cast<std::int64_t>(sizeof(T)),
                            threads);
          const auto needed = static_cast<std::size_t>(tiles.room(shape.sweeps, Padding<T>::line));
          if (shape.sweeps > 1 && room.size() < needed * threads)
            room = PassRoom<T>(Kokkos::view_alloc("heat/pass", Kokkos::WithoutInitializing), threads, needed);
          const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>> policy(instance, 0, tiles.all());
          const Kokkos::Experimental::UniqueToken<ExecutionSpace> thread;
          const auto of_tile = [=](std::int64_t t) {
            if (shape.sweeps == 1) return pass(tiles(t), tiles.band, nullptr);
            const int own = thread.acquire();
            const double part = pass(tiles(t), tiles.band, &room(own, 0));
            thread.release(own);
            return part;
          };
          double result = 0;
          if constexpr (norm_kind() == Norm::none)
            Kokkos::parallel_for("heat/sweep", policy, [=](std::int64_t t) { of_tile(t); });
          else if constexpr (norm_kind() == Norm::max)
            Kokkos::parallel_reduce(
                "heat/sweep", policy, [=](std::int64_t t, double& sum) { sum = joined<Norm::max>(sum, of_tile(t)); },
                Kokkos::Max<double>(result));
          else
            Kokkos::parallel_reduce(
                "heat/sweep", policy, [=](std::int64_t t, double& sum) { sum += of_tile(t); }, result);
          return result;
        });
  };
  return shape.streaming ? with_stores(std::true_type()) : with_stores(std::false_type());
}

/// Compiled once, in sweep.cpp.
using RowsInstance = FieldView<float>::execution_space;
extern template double sweep_in_rows(const RowsInstance&, const SweepInput<float>&, const FieldView<float>&, const Box&,
                                     Norm, const PassShape&, PassRoom<float>&);
extern template double sweep_in_rows(const RowsInstance&, const SweepInput<double>&, const FieldView<double>&,
                                     const Box&, Norm, const PassShape&, PassRoom<double>&);

} // namespace kontor::heat
