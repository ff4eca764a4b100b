// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/range.hpp"
#include "heat/sweep_input.hpp"

#include <Kokkos_Core.hpp>

#include <limits>

/// Checks of a result by formulas that the sweep does not use.
namespace kontor::heat {

namespace detail {

// Not in the kernels: these are functions of the host.
inline constexpr double largest_finite = std::numeric_limits<double>::max();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A NaN must not be lost in a maximum.
KOKKOS_INLINE_FUNCTION double size_or_infinity(double value) {
  const double size = value < 0 ? -value : value;
  if (size <= largest_finite) return size;
  return infinity;
}

/// sum over axes of c (lower + upper - 2 u) + source at a cell, with the neighbours beyond boundary faces
/// spelled out: the residual in flux form.
template <class T>
KOKKOS_INLINE_FUNCTION double residual(const SweepInput<T>& in, std::int64_t i, std::int64_t j,
                                       std::int64_t k) {
  using P = Padding<T>;
  const std::int64_t index[3] = {i, j, k};
  const std::int64_t z = k + (in.block.dimensions == 3 ? 1 : 0);
  const double u = in.u(z, j + P::y, i + P::x);
  double sum = in.source.size() > 0 ? in.source(k, j, i) : T(0);
  for (int axis = 0; axis < in.block.dimensions; ++axis) {
    const std::int64_t dx = axis == 0 ? 1 : 0;
    const std::int64_t dy = axis == 1 ? 1 : 0;
    const std::int64_t dz = axis == 2 ? 1 : 0;
    double lower = in.u(z - dz, j + P::y - dy, i + P::x - dx);
    double upper = in.u(z + dz, j + P::y + dy, i + P::x + dx);
    if (index[axis] == 0) lower -= in.stencil.adjust[2 * axis] * u;
    if (index[axis] == in.block.extents[axis] - 1) upper -= in.stencil.adjust[2 * axis + 1] * u;
    sum += in.stencil.c[axis] * ((lower - u) + (upper - u));
  }
  return sum;
}

/// d of the cell: how much of the residual a change of u by one takes away.
template <class T>
KOKKOS_INLINE_FUNCTION double diagonal(const SweepInput<T>& in, std::int64_t i, std::int64_t j,
                                       std::int64_t k) {
  const std::int64_t index[3] = {i, j, k};
  double d = 0;
  for (int axis = 0; axis < in.block.dimensions; ++axis)
    d += in.stencil.c[axis] * (2.0 + in.stencil.extra(axis, index[axis], in.block.extents[axis]));
  return d;
}

template <class ExecutionSpace>
using CellPolicy = Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<3>, Kokkos::IndexType<std::int64_t>>;

} // namespace detail

/// Local, waits. The largest update that a Jacobi sweep would still make: max |residual / d|. Infinite if a
/// value is not finite. `in.u` has valid ghost cells.
template <class T>
double largest_update(const SweepInput<T>& in) {
  using ExecutionSpace = typename FieldView<T>::execution_space;
  const auto& n = in.block.extents;
  double result = 0;
  Kokkos::parallel_reduce(
      "heat/residual", detail::CellPolicy<ExecutionSpace>({0, 0, 0}, {n[2], n[1], n[0]}),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& largest) {
        const double size =
            detail::size_or_infinity(detail::residual(in, i, j, k) / detail::diagonal(in, i, j, k));
        if (size > largest) largest = size;
      },
      Kokkos::Max<double>(result));
  return result;
}

/// Local, waits. How far a field is from what one sweep or step makes of the field before: max |after - (u +
/// weight residual)|. Infinite if a value is not finite. `in.u` is the field before, with valid ghost cells.
template <class T>
double step_defect(const SweepInput<T>& in, const FieldView<T>& after) {
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using P = Padding<T>;
  const auto& n = in.block.extents;
  const std::int64_t z = P::z(in.block.dimensions);
  double result = 0;
  Kokkos::parallel_reduce(
      "heat/defect", detail::CellPolicy<ExecutionSpace>({0, 0, 0}, {n[2], n[1], n[0]}),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& largest) {
        const double weight =
            in.stencil.step == 0 ? 1 / detail::diagonal(in, i, j, k) : double(in.stencil.step);
        const double expected = in.u(k + z, j + P::y, i + P::x) + weight * detail::residual(in, i, j, k);
        const double size = detail::size_or_infinity(after(k + z, j + P::y, i + P::x) - expected);
        if (size > largest) largest = size;
      },
      Kokkos::Max<double>(result));
  return result;
}

/// Local, waits. Of a field's own cells; infinite if a value is not finite.
template <class T>
Range range_of(const FieldView<T>& field, const Block& block) {
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using P = Padding<T>;
  const auto& n = block.extents;
  const std::int64_t z = P::z(block.dimensions);
  Kokkos::MinMaxScalar<double> result;
  Kokkos::parallel_reduce(
      "heat/range", detail::CellPolicy<ExecutionSpace>({0, 0, 0}, {n[2], n[1], n[0]}),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, Kokkos::MinMaxScalar<double> & range) {
        const double value = field(k + z, j + P::y, i + P::x);
        double known = value;
        if (!(detail::size_or_infinity(value) <= detail::largest_finite)) known = detail::infinity;
        if (known < range.min_val) range.min_val = known;
        if (known > range.max_val) range.max_val = known;
      },
      Kokkos::MinMax<double>(result));
  return {result.min_val, result.max_val};
}

} // namespace kontor::heat
