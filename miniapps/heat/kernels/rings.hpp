// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"

#include <limits>

namespace kontor::heat::detail {

/// A row of 2-D, or a plane of 3-D. Between sweeps, a band's rows of it go round in a ring, but for the last two rows
/// of this band and of the one before.
template <int dimensions, class T>
struct PassSlab {
  static constexpr auto most = std::numeric_limits<std::int64_t>::max();
  T* first = nullptr; ///< cell 0 of a row
  std::int64_t stride = 0, start = 0, count = most;
  std::int64_t begin = -most, end = most; ///< the rows in the ring
  T *before = nullptr, *after = nullptr;  ///< rows begin and end

  T* row(std::int64_t j) const {
    if constexpr (dimensions == 2) return first;
    if (j < begin) return before + (j - begin) * stride;
    if (j >= end) return after + (j - end) * stride;
    const auto n = start + j;
    return first + (n < count ? n : n - count) * stride;
  }
};

/// What is between two sweeps: rows of planes in their order. A plane's row replaces the one before its own of two
/// planes ago, which nobody reads again. In 3-D rings hold a band of a tile's rows; a sweep's band is one row lower
/// than that of the sweep before, so that bands, which go upwards, have no margins between them. The last two rows of a
/// band stay for the next one, and replace those that the band before left of two planes ago.
template <int dimensions, class T>
struct PassRings {
  static constexpr std::int64_t line = Padding<T>::line;
  static std::int64_t line_before(std::int64_t i) { return i & -line; }
  static std::int64_t line_after(std::int64_t i) { return (i + line - 1) & -line; }

  T *first, *kept;
  int sweeps;
  std::int64_t row, z, y = 0, end = 1, rows = 1, planes = 2, turn = 0;

  /// `all`: what the first sweep computes for a tile that ends at `tile_end` along y. One sweep needs no memory.
  PassRings(const Box& all, std::int64_t tile_end, int number, std::int64_t band, T* memory) : sweeps(number) {
    const auto x = line_before(all.begin[0]) - line;
    row = line_after(all.end[0]) + line - x;
    first = kept = memory ? memory - x : nullptr;
    if constexpr (dimensions == 2) return;
    y = all.begin[1];
    end = tile_end + sweeps - 1;
    z = all.begin[2];
    rows = band - 2;
    planes = all.end[2] - z + 2;
    if (memory) kept += (sweeps - 1) * (2 * rows + 1) * row;
  }
  PassSlab<dimensions, T> slab(int sweep, std::int64_t m) const {
    const auto count = 2 * rows + 1, start = (m + 1024 * count) * rows % count; // m may be negative
    T* const ring = first + (sweep - 1) * count * row;
    if constexpr (dimensions == 2) return {ring + start * row, row};
    const auto before = kept_of(sweep, m + 2), after = kept_of(sweep, m);
    return {ring, row, start - begin(sweep), count, begin(sweep), begin(sweep) + rows, before + 2 * row, after};
  }
  T* kept_of(int sweep, std::int64_t m) const {
    return kept + ((m - z + turn) % planes * (sweeps - 1) + sweep - 1) * 2 * row;
  }
  void next(std::int64_t band) {
    y += band;
    turn = (turn + planes - 2) % planes;
  }
  /// The first row of a sweep.
  std::int64_t begin(int sweep) const { return y - (sweep - 1); }
};

} // namespace kontor::heat::detail
