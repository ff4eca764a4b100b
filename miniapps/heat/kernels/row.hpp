// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"
#include "heat/problem/stencil.hpp"
#include "machine/stream_store.hpp"
#include "stepping/independent.hpp"

#include <cmath>
#include <cstdint>

/// The innermost loop of a sweep on a CPU: one row of cells, unit stride, for the compiler to vectorise.
namespace kontor::heat {

/// Cell i of the row is centre[i]; the others are the rows around it. Rows of an axis or a source that is not there are
/// null.
template <class T>
struct Row {
  const T* centre;
  const T* south;
  const T* north;
  const T* below;
  const T* above;
  const T* source;
  T* out;
};

template <int dimensions, bool sourced, class T>
inline T updated(const Row<T>& row, const Stencil<T>& s, typename Stencil<T>::Weights w, std::int64_t i) {
  T sum = s.c[0] * (row.centre[i - 1] + row.centre[i + 1]) + s.c[1] * (row.south[i] + row.north[i]);
  if constexpr (dimensions == 3) sum += s.c[2] * (row.below[i] + row.above[i]);
  if constexpr (sourced) sum += row.source[i];
  return w.keep * row.centre[i] + w.gain * sum;
}

/// Cells [begin, end) into `out`, where out[0] is cell begin. Returns the norm's part. Squares add in double, as on a
/// device: a sum of floats loses what is small beside it.
template <int dimensions, bool sourced, Norm norm, class T>
inline double update_span(const Row<T>& given, const Stencil<T>& stencil, typename Stencil<T>::Weights w,
                          std::int64_t begin, std::int64_t end, T* __restrict__ out) {
  const Row<T> row = given; // by value: nothing that is stored changes it, so that it stays in registers
  const Stencil<T> s = stencil;
  if constexpr (norm == Norm::none) {
    KONTOR_INDEPENDENT
    for (std::int64_t i = begin; i < end; ++i) out[i - begin] = updated<dimensions, sourced>(row, s, w, i);
    return 0;
  } else if constexpr (norm == Norm::max) {
    T result = 0;
#pragma omp simd reduction(max : result)
    for (std::int64_t i = begin; i < end; ++i) {
      const T value = updated<dimensions, sourced>(row, s, w, i);
      const T change = std::abs(value - row.centre[i]);
      out[i - begin] = value;
      result = change > result ? change : result;
    }
    return result;
  } else {
    double result = 0;
#pragma omp simd reduction(+ : result)
    for (std::int64_t i = begin; i < end; ++i) {
      const T value = updated<dimensions, sourced>(row, s, w, i);
      const double change = value - row.centre[i];
      out[i - begin] = value;
      result += change * change;
    }
    return result;
  }
}

/// Asks for cells [begin, end) of the row that a sweep meets first, those `distance` bytes further on in memory: the
/// rows that come next. Hardware does not look far enough ahead on every machine.
template <int dimensions, class T>
inline void prefetch_ahead(const Row<T>& row, std::int64_t begin, std::int64_t end, std::uintptr_t distance) {
  constexpr std::int64_t line = 64 / sizeof(T);
  // As a number: it may lie past the end of the array, where a pointer may not point but a prefetch may.
  const auto fresh = reinterpret_cast<std::uintptr_t>(dimensions == 3 ? row.above : row.north) + distance;
  for (std::int64_t i = begin; i < end; i += line)
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    __builtin_prefetch(reinterpret_cast<const void*>(fresh + static_cast<std::uintptr_t>(i) * sizeof(T)));
}

/// Cells [begin, end) of the row. Streaming goes through a buffer that stays in the nearest cache.
template <int dimensions, bool sourced, Norm norm, bool streaming, class T>
inline double update_row(const Row<T>& row, const Stencil<T>& s, typename Stencil<T>::Weights w, std::int64_t begin,
                         std::int64_t end, std::uintptr_t prefetch) {
  if (!streaming && prefetch == 0)
    return update_span<dimensions, sourced, norm>(row, s, w, begin, end, row.out + begin);
  constexpr std::int64_t length = 1024 / sizeof(T);
  alignas(64) T buffer[length];
  double result = 0;
  for (std::int64_t from = begin; from < end; from += length) {
    const auto to = from + length < end ? from + length : end;
    if (prefetch > 0) prefetch_ahead<dimensions>(row, from, to, prefetch);
    T* const out = streaming ? buffer : row.out + from;
    result = joined<norm>(result, update_span<dimensions, sourced, norm>(row, s, w, from, to, out));
    if constexpr (streaming) miniapp::stream_copy(row.out + from, buffer, to - from);
  }
  return result;
}

} // namespace kontor::heat
