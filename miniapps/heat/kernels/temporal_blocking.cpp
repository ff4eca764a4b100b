// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/pass.hpp"
#include "heat/kernels/rings.hpp"
#include "heat/kernels/rows.hpp"
#include "heat/kernels/tiles.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace kontor::heat {

namespace detail {

/// A pass over a tile: `sweeps` sweeps, each a row (2-D) or plane (3-D) behind the one before, so that what one writes
/// the next one finds in cache. Planes advance together, row by row: memory serves the first and the last sweep while
/// those between compute. Only the last one writes to `out`. The others leave two planes and a row each in a ring of
/// the thread's own, and compute a margin that shrinks by one cell from sweep to sweep: other threads and ranks
/// compute it again, and nobody waits. See Nguyen et al., "3.5-D blocking optimization for stencil computations", SC10.
template <int dimensions, bool sourced, bool streaming, class T>
class Pass : BlockRows<dimensions, sourced, T> {
 public:
  Pass(const SweepInput<T>& in, const FieldView<T>& out, const PassShape& shape)
      : BlockRows<dimensions, sourced, T>(in, out), sweeps_(shape.sweeps), prefetch_(shape.prefetch) {}

  /// Bands have so many rows (1 in 2-D).
  void operator()(const Box& tile, std::int64_t band, T* room) const {
    std::vector<Slabs> slabs(static_cast<std::size_t>(sweeps_));
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
            if (const auto& of = slabs[sweep - 1]; j >= of.begin && j < of.end) sweep_row(rings, of, tile, sweep, j);
      }
    if constexpr (streaming) miniapp::stream_fence();
  }

 private:
  using Rows = BlockRows<dimensions, sourced, T>;
  using Rows::cells_, Rows::ends_;
  using Rows::u_, Rows::out_, Rows::source_, Rows::row_, Rows::plane_, Rows::source_row_, Rows::source_plane_;

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
  void sweep_row(const Rings& rings, const Slabs& of, const Box& tile, int sweep, std::int64_t j) const {
    auto begin = tile.begin[0], end = tile.end[0];
    if (sweep < sweeps_) {
      begin = Rings::line_before(first(tile, sweep, 0));
      end = Rings::line_after(last(tile, sweep, 0));
    }
    Row<T> row{of.centre.row(j), of.lower.row(j), of.upper.row(j), nullptr, nullptr, nullptr, of.to.row(j)};
    if constexpr (dimensions == 3) {
      row.below = row.south;
      row.above = row.north;
      row.south = j == 0 && ends_[2] ? of.u.row(-1) : of.centre.row(j - 1);
      row.north = j == cells_[1] - 1 && ends_[3] ? of.u.row(j + 1) : of.centre.row(j + 1);
    }
    const auto y = dimensions == 3 ? j : of.m;
    if constexpr (sourced)
      row.source = source_ + (dimensions == 3 ? of.m * source_plane_ + j * source_row_ : y * source_row_);
    const auto band = rings.rows + 2;
    const auto prefetch = sweep == 1 ? this->ahead(prefetch_, rings.row, rings.y + band - j, band) : 0;
    if (sweep == sweeps_) {
      this->template update<Norm::none, streaming>(row, y, of.m, begin, end, prefetch);
      return;
    }
    const T* const u = of.u.row(j);
    this->template update<Norm::none, false>(row, y, of.m, begin, end, prefetch);
    if (ends_[0] && begin == 0) row.out[-1] = u[-1];
    if (ends_[1] && end >= cells_[0]) row.out[cells_[0]] = u[cells_[0]];
  }

  int sweeps_;
  std::uintptr_t prefetch_;
};

} // namespace detail

template <class T>
void pass_rows(const typename FieldView<T>::execution_space& instance, const SweepInput<T>& in, const FieldView<T>& out,
               const Box& box, const PassShape& shape, PassRoom<T>& room) {
  const auto threads = static_cast<std::int64_t>(instance.concurrency());
  const Tiles tiles(box, in.block.dimensions, shape.sweeps, shape.cache / static_cast<std::int64_t>(sizeof(T)),
                    threads);
  const auto needed = static_cast<std::size_t>(tiles.room(shape.sweeps, Padding<T>::line));
  if (room.size() < needed * threads)
    room = PassRoom<T>(Kokkos::view_alloc("heat/pass", Kokkos::WithoutInitializing), threads, needed);
  const auto with_stores = [&](auto streamed) {
    with_constants(in.block.dimensions, in.source.size() > 0, Norm::none, [&](auto dimensions, auto sourced, auto) {
      const detail::Pass<dimensions(), sourced(), streamed(), T> pass(in, out, shape);
      const Kokkos::Experimental::UniqueToken<typename FieldView<T>::execution_space> thread;
      over_boxes<Norm::none>(instance, tiles.all(), [=](std::int64_t t) {
        const int own = thread.acquire();
        pass(tiles(t), tiles.band, &room(own, 0));
        thread.release(own);
      });
    });
  };
  shape.streaming ? with_stores(std::true_type()) : with_stores(std::false_type());
}

template void pass_rows<float>(const RowsInstance&, const SweepInput<float>&, const FieldView<float>&, const Box&,
                               const PassShape&, PassRoom<float>&);
template void pass_rows<double>(const RowsInstance&, const SweepInput<double>&, const FieldView<double>&, const Box&,
                                const PassShape&, PassRoom<double>&);

} // namespace kontor::heat
