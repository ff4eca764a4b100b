// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/stencil.hpp"
#include "stepping/independent.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

/// The sweep as a textbook has it, on a CPU and on a device. The tuned kernels compute the same bits.
namespace kontor::heat {

/// A work item is a row of cells on a host, a cell on a device. Dimensions and source are constants: a loop that asks
/// for them reads, masked, where no memory is, which takes a hundred times as long.
template <int dimensions, bool sourced, Norm norm, class T, class Field, class Cells>
struct PlainSweep {
  using value_type = double; ///< of the norm's part
  using Index = std::int64_t;

  SweepInput<T, Field, Cells> in;
  Field out;
  Box box;
  Index row, plane; ///< strides of both fields

  KOKKOS_FUNCTION void operator()(Index k, Index j, Index i) const { update_cell(i, j, k); }
  KOKKOS_FUNCTION void operator()(Index k, Index j, Index i, double& part) const {
    part = joined<norm>(part, size_of(update_cell(i, j, k)));
  }
  void operator()(Index number) const { update_row(number, nullptr); }
  void operator()(Index number, double& part) const { update_row(number, &part); }

  /// Local; queued on a device.
  template <class Policy>
  void launch(const Policy& policy, double* part) const {
    using Space = typename Field::memory_space;
    using Reducer = std::conditional_t<norm == Norm::max, Kokkos::Max<double, Space>, Kokkos::Sum<double, Space>>;
    if constexpr (norm == Norm::none)
      Kokkos::parallel_for("heat/sweep", policy, *this);
    else
      Kokkos::parallel_reduce("heat/sweep", policy, *this, Reducer(typename Reducer::result_view_type(part)));
  }

 private:
  KOKKOS_INLINE_FUNCTION T& at(const Field& field, Index i, Index j, Index k) const {
    return field(Padding<T>::z(dimensions) + k, Padding<T>::y + j, Padding<T>::x + i);
  }

  /// keep u + gain (sum over axes of c (u_lower + u_upper) + source).
  KOKKOS_FORCEINLINE_FUNCTION T updated(const T* u, const T* source, const Stencil<T>& s,
                                        typename Stencil<T>::Weights w) const {
    T sum = s.c[0] * (u[-1] + u[1]) + s.c[1] * (u[-row] + u[row]);
    if constexpr (dimensions == 3) sum += s.c[2] * (u[-plane] + u[plane]);
    if constexpr (sourced) sum += *source;
    return w.keep * *u + w.gain * sum;
  }

  KOKKOS_INLINE_FUNCTION auto weights(T x, Index j, Index k) const {
    const auto& n = in.block.extents;
    return in.stencil.weights(x, in.stencil.extra(1, j, n[1]), dimensions == 3 ? in.stencil.extra(2, k, n[2]) : T(0));
  }

  /// Returns u_new - u.
  KOKKOS_INLINE_FUNCTION double update_cell(Index i, Index j, Index k) const {
    const T& u = at(in.u, i, j, k);
    const T value = updated(&u, sourced ? &in.source(k, j, i) : nullptr, in.stencil,
                            weights(in.stencil.extra(0, i, in.block.extents[0]), j, k));
    at(out, i, j, k) = value;
    return value - u;
  }

  void update_row(Index number, double* part) const {
    const auto j = box.begin[1] + number % box.extent(1), k = box.begin[2] + number / box.extent(1);
    const auto begin = box.begin[0], end = box.end[0], last = in.block.extents[0] - 1;
    const auto s = in.stencil;
    const auto w = weights(0, j, k);
    const T* const u = &at(in.u, 0, j, k);
    const T* const source = sourced ? &in.source(k, j, 0) : nullptr;
    T* const __restrict__ to = &at(out, 0, j, k);
    if constexpr (norm ==
                  Norm::none) { // the cells at the ends, whose weights differ, again: lines of memory stay whole
      KONTOR_INDEPENDENT
      for (auto i = begin; i < end; ++i) to[i] = updated(u + i, source + i, s, w);
      if (begin == 0) update_cell(0, j, k);
      if (end > last) update_cell(last, j, k);
    } else {
      double sum = *part;
      for (auto i = begin; i < end; ++i) {
        const bool inner = i > 0 && i < last;
        const T value = updated(u + i, source + i, s, inner ? w : weights(s.extra(0, i, last + 1), j, k));
        to[i] = value;
        sum = joined<norm>(sum, size_of(value - u[i]));
      }
      *part = sum;
    }
  }

  /// What the change of a cell adds to the part.
  KOKKOS_FORCEINLINE_FUNCTION static double size_of(double change) {
    if constexpr (norm == Norm::max) return fabs(change);
    return change * change;
  }
};

/// Local; queued on a device. Updates the cells of `box`, whose ghost cells must be valid. With a norm, *part, in the
/// memory of the space, is that of these cells: the largest change, or the sum of squared changes.
template <class T, class Field, class Cells, class ExecutionSpace>
void plain_sweep(const ExecutionSpace& instance, const SweepInput<T, Field, Cells>& in, const Field& out,
                 const Box& box, Norm norm, double* part) {
  using Order = Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>; // i is the innermost loop
  using Index = std::int64_t;
  const auto &begin = box.begin, &end = box.end;
  const auto row = static_cast<Index>(in.u.stride(1)), plane = static_cast<Index>(in.u.stride(0));
  with_constants(in.block.dimensions, in.source.size() > 0, norm, [&](auto dimensions, auto sourced, auto kind) {
    const PlainSweep<dimensions(), sourced(), kind(), T, Field, Cells> sweep{in, out, box, row, plane};
    if constexpr (device::on_host<ExecutionSpace>)
      sweep.launch(
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(instance, 0, box.extent(1) * box.extent(2)),
          part);
    else
      sweep.launch(Kokkos::MDRangePolicy<ExecutionSpace, Order, Kokkos::IndexType<Index>>(
                       instance, {begin[2], begin[1], begin[0]}, {end[2], end[1], end[0]}),
                   part);
  });
}

} // namespace kontor::heat
