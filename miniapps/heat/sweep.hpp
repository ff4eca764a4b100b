// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/field.hpp"
#include "heat/row.hpp"
#include "heat/sweep_input.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <type_traits>

/// One sweep over a box of cells on a CPU: out = update of u. Kernels are free functions of Views and
/// numbers; they run on the instance and, without a norm, do not wait for it.
namespace kontor::heat {

namespace detail {

/// A tile is a strip of `tile_rows` rows, walked plane by plane, so that in 3-D the planes above and below
/// are still in cache.
inline std::int64_t tile_rows(const Box& box, std::size_t row_bytes) {
  constexpr std::size_t cache_bytes = 384 << 10; // of a core's own second-level cache, for three planes
  const auto rows = static_cast<std::int64_t>(cache_bytes / (3 * row_bytes));
  return std::clamp<std::int64_t>(rows, 4, std::max<std::int64_t>(4, box.end[1] - box.begin[1]));
}

/// A row of cells at (j, k): the inner cells by the vectorised loop, and a first or last cell at a boundary
/// face, whose weights differ, apart.
template <int dimensions, bool sourced, SweepNorm norm, bool streaming, class T>
double sweep_row(const SweepInput<T>& in, const FieldView<T>& out, const Box& box, std::int64_t j,
                 std::int64_t k) {
  using P = Padding<T>;
  const auto cell = [&](const FieldView<T>& f, std::int64_t kk, std::int64_t jj) {
    return &f(kk + P::z(dimensions), jj + P::y, P::x);
  };
  Row<T> row{cell(in.u, k, j), cell(in.u, k, j - 1), cell(in.u, k, j + 1), nullptr, nullptr,
             nullptr,          cell(out, k, j)};
  if constexpr (dimensions == 3) {
    row.below = cell(in.u, k - 1, j);
    row.above = cell(in.u, k + 1, j);
  }
  if constexpr (sourced) row.source = &in.source(k, j, 0);

  const auto& s = in.stencil;
  const auto& n = in.block.cells;
  const T extra_y = s.extra(1, j, n[1]);
  const T extra_z = dimensions == 3 ? s.extra(2, k, n[2]) : T(0);
  auto begin = box.begin[0];
  auto end = box.end[0];
  double result = 0;
  const auto apart = [&](std::int64_t i) {
    const auto w = s.weights(s.extra(0, i, n[0]), extra_y, extra_z);
    result = joined<norm>(result, update_span<dimensions, sourced, norm>(row, s, w, i, i + 1, row.out + i));
  };
  if (s.extra(0, begin, n[0]) != 0) apart(begin++);
  if (begin < end && s.extra(0, end - 1, n[0]) != 0) apart(--end);
  return joined<norm>(result, update_row<dimensions, sourced, norm, streaming>(
                                  row, s, s.weights(0, extra_y, extra_z), begin, end));
}

template <int dimensions, bool sourced, SweepNorm norm, bool streaming, class T, class ExecutionSpace>
double sweep_rows(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out,
                  const Box& box) {
  const auto rows = tile_rows(box, static_cast<std::size_t>(box.end[0] - box.begin[0]) * sizeof(T));
  const auto tiles = (box.end[1] - box.begin[1] + rows - 1) / rows;
  const auto tile = [=](std::int64_t t) {
    const auto j_begin = box.begin[1] + t * rows;
    const auto j_end = std::min(j_begin + rows, box.end[1]);
    double result = 0;
    for (auto k = box.begin[2]; k < box.end[2]; ++k)
      for (auto j = j_begin; j < j_end; ++j)
        result = joined<norm>(result, sweep_row<dimensions, sourced, norm, streaming>(in, out, box, j, k));
    if constexpr (streaming) stream_fence();
    return result;
  };
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>> policy(instance, 0, tiles);
  double result = 0;
  if constexpr (norm == SweepNorm::none)
    Kokkos::parallel_for("heat/sweep", policy, [=](std::int64_t t) { tile(t); });
  else if constexpr (norm == SweepNorm::max)
    Kokkos::parallel_reduce(
        "heat/sweep", policy, [=](std::int64_t t, double& sum) { sum = joined<norm>(sum, tile(t)); },
        Kokkos::Max<double>(result));
  else
    Kokkos::parallel_reduce(
        "heat/sweep", policy, [=](std::int64_t t, double& sum) { sum += tile(t); }, result);
  return result;
}

/// The value of one cell, by indices.
template <class T, class Field, class Cells>
KOKKOS_INLINE_FUNCTION T updated_cell(const SweepInput<T, Field, Cells>& in, int dimensions, std::int64_t i,
                                      std::int64_t j, std::int64_t k) {
  using P = Padding<T>;
  const auto& s = in.stencil;
  const auto& n = in.block.cells;
  const std::int64_t z = k + (dimensions == 3 ? 1 : 0);
  const std::int64_t y = j + P::y;
  const std::int64_t x = i + P::x;
  T sum = s.c[0] * (in.u(z, y, x - 1) + in.u(z, y, x + 1)) + s.c[1] * (in.u(z, y - 1, x) + in.u(z, y + 1, x));
  if (dimensions == 3) sum += s.c[2] * (in.u(z - 1, y, x) + in.u(z + 1, y, x));
  if (in.source.size() > 0) sum += in.source(k, j, i);
  const auto w =
      s.weights(s.extra(0, i, n[0]), s.extra(1, j, n[1]), dimensions == 3 ? s.extra(2, k, n[2]) : T(0));
  return w.keep * in.u(z, y, x) + w.gain * sum;
}

} // namespace detail

/// On any execution space, a work item a cell: what tests compare the other kernels with. Returns the norm's
/// part for these cells (largest change, or sum of squared changes), 0 without a norm.
template <class T, class ExecutionSpace>
double sweep_cells(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out,
                   const Box& box, SweepNorm norm) {
  using P = Padding<T>;
  using Policy =
      Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                            Kokkos::IndexType<std::int64_t>>;
  const Policy policy(instance, {box.begin[2], box.begin[1], box.begin[0]},
                      {box.end[2], box.end[1], box.end[0]});
  const int dimensions = in.block.dimensions;
  const std::int64_t z = P::z(dimensions);
  double result = 0;
  if (norm == SweepNorm::none)
    Kokkos::parallel_for(
        "heat/sweep", policy, KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i) {
          out(k + z, j + P::y, i + P::x) = detail::updated_cell(in, dimensions, i, j, k);
        });
  else if (norm == SweepNorm::max)
    Kokkos::parallel_reduce(
        "heat/sweep", policy,
        KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& largest) {
          const T value = detail::updated_cell(in, dimensions, i, j, k);
          const T change = value - in.u(k + z, j + P::y, i + P::x);
          out(k + z, j + P::y, i + P::x) = value;
          const double size = change < 0 ? -change : change;
          if (size > largest) largest = size;
        },
        Kokkos::Max<double>(result));
  else
    Kokkos::parallel_reduce(
        "heat/sweep", policy,
        KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& sum) {
          const T value = detail::updated_cell(in, dimensions, i, j, k);
          const T change = value - in.u(k + z, j + P::y, i + P::x);
          out(k + z, j + P::y, i + P::x) = value;
          sum += static_cast<double>(change) * static_cast<double>(change);
        },
        result);
  return result;
}

/// Local. On a CPU: rows in tiles. Updates the cells of `box`, whose ghost cells must be valid. Streaming
/// stores pay where the fields do not fit in the cache.
template <class T, class ExecutionSpace>
double sweep_in_rows(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out,
                     const Box& box, SweepNorm norm, bool streaming) {
  const auto call = [&](auto dimensions, auto sourced, auto norm_kind, auto streamed) {
    return detail::sweep_rows<dimensions(), sourced(), norm_kind(), streamed()>(instance, in, out, box);
  };
  const auto with_norm = [&](auto dimensions, auto sourced, auto streamed) {
    switch (norm) {
    case SweepNorm::max:
      return call(dimensions, sourced, std::integral_constant<SweepNorm, SweepNorm::max>(), streamed);
    case SweepNorm::sum_of_squares:
      return call(dimensions, sourced, std::integral_constant<SweepNorm, SweepNorm::sum_of_squares>(),
                  streamed);
    case SweepNorm::none: break;
    }
    return call(dimensions, sourced, std::integral_constant<SweepNorm, SweepNorm::none>(), streamed);
  };
  const auto with_stores = [&](auto dimensions, auto sourced) {
    return streaming ? with_norm(dimensions, sourced, std::true_type())
                     : with_norm(dimensions, sourced, std::false_type());
  };
  const auto with_source = [&](auto dimensions) {
    return in.source.size() > 0 ? with_stores(dimensions, std::true_type())
                                : with_stores(dimensions, std::false_type());
  };
  return in.block.dimensions == 3 ? with_source(std::integral_constant<int, 3>())
                                  : with_source(std::integral_constant<int, 2>());
}

} // namespace kontor::heat
