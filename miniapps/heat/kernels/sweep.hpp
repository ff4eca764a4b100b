// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/row.hpp"
#include "heat/names.hpp"
#include "heat/problem/stencil.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <type_traits>

/// One sweep over a box of cells on a CPU: out = update of u. Kernels are free functions of Views and numbers; they run
/// on the instance and, without a norm, do not wait for it.
namespace kontor::heat {

namespace detail {

/// A tile is a strip of `tile_rows` rows, walked plane by plane, so that in 3-D the planes above and below are still in
/// cache. Each of several threads has as many tiles as the others.
inline std::int64_t tile_rows(const Box& box, std::size_t row_bytes, std::int64_t threads) {
  constexpr std::size_t cache_bytes = 384 << 10; // of a core's own second-level cache, for three planes
  const auto rows = static_cast<std::int64_t>(cache_bytes / (3 * row_bytes));
  const auto all = std::max<std::int64_t>(1, box.end[1] - box.begin[1]);
  const auto most = std::clamp<std::int64_t>(rows, 4, std::max<std::int64_t>(4, all));
  if (threads == 1) return most;
  const auto shares = (all + most * threads - 1) / (most * threads) * threads;
  return (all + shares - 1) / shares;
}

/// A row of cells at (j, k): the inner cells by the vectorised loop, and a first or last cell at a boundary face, whose
/// weights differ, apart.
template <int dimensions, bool sourced, Norm norm, bool streaming, class T>
double sweep_row(const SweepInput<T>& in, const FieldView<T>& out, const Box& box, std::int64_t j, std::int64_t k) {
  using P = Padding<T>;
  const auto cell = [&](const FieldView<T>& f, std::int64_t kk, std::int64_t jj) {
    return &f(kk + P::z(dimensions), jj + P::y, P::x);
  };
  Row<T> row{cell(in.u, k, j), cell(in.u, k, j - 1), cell(in.u, k, j + 1), nullptr, nullptr, nullptr, cell(out, k, j)};
  if constexpr (dimensions == 3) {
    row.below = cell(in.u, k - 1, j);
    row.above = cell(in.u, k + 1, j);
  }
  if constexpr (sourced) row.source = &in.source(k, j, 0);

  const auto& s = in.stencil;
  const auto& n = in.block.extents;
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
  return joined<norm>(
      result, update_row<dimensions, sourced, norm, streaming>(row, s, s.weights(0, extra_y, extra_z), begin, end));
}

template <int dimensions, bool sourced, Norm norm, bool streaming, class T, class ExecutionSpace>
double sweep_rows(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, const Box& box) {
  const auto rows =
      tile_rows(box, static_cast<std::size_t>(box.end[0] - box.begin[0]) * sizeof(T), instance.concurrency());
  const auto tiles = (box.end[1] - box.begin[1] + rows - 1) / rows;
  const auto tile = [=](std::int64_t t) {
    const auto j_begin = box.begin[1] + t * rows;
    const auto j_end = std::min(j_begin + rows, box.end[1]);
    double result = 0;
    for (auto k = box.begin[2]; k < box.end[2]; ++k)
      for (auto j = j_begin; j < j_end; ++j)
        result = joined<norm>(result, sweep_row<dimensions, sourced, norm, streaming>(in, out, box, j, k));
    if constexpr (streaming) miniapp::stream_fence();
    return result;
  };
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>> policy(instance, 0, tiles);
  double result = 0;
  if constexpr (norm == Norm::none)
    Kokkos::parallel_for("heat/sweep", policy, [=](std::int64_t t) { tile(t); });
  else if constexpr (norm == Norm::max)
    Kokkos::parallel_reduce(
        "heat/sweep", policy, [=](std::int64_t t, double& sum) { sum = joined<norm>(sum, tile(t)); },
        Kokkos::Max<double>(result));
  else
    Kokkos::parallel_reduce(
        "heat/sweep", policy, [=](std::int64_t t, double& sum) { sum += tile(t); }, result);
  return result;
}

} // namespace detail

/// Local. On a CPU: rows in tiles. Updates the cells of `box`, whose ghost cells must be valid. Streaming stores pay
/// where the fields do not fit in the cache.
template <class T, class ExecutionSpace>
double sweep_in_rows(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, const Box& box,
                     Norm norm, bool streaming) {
  const auto with_stores = [&](auto streamed) {
    return with_constants(
        in.block.dimensions, in.source.size() > 0, norm, [&](auto dimensions, auto sourced, auto norm_kind) {
          constexpr bool streams = decltype(streamed)::value;
          return detail::sweep_rows<dimensions(), sourced(), norm_kind(), streams>(instance, in, out, box);
        });
  };
  return streaming ? with_stores(std::true_type()) : with_stores(std::false_type());
}

/// Compiled once, in sweep.cpp.
using RowsInstance = FieldView<float>::execution_space;
extern template double sweep_in_rows(const RowsInstance&, const SweepInput<float>&, const FieldView<float>&, const Box&,
                                     Norm, bool);
extern template double sweep_in_rows(const RowsInstance&, const SweepInput<double>&, const FieldView<double>&,
                                     const Box&, Norm, bool);

} // namespace kontor::heat
