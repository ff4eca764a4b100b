// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/sweep_input.hpp"

#include <Kokkos_Core.hpp>

/// The sweep written down plainly, a cell at a time: what the other kernels are compared with.
namespace kontor::heat::test {

/// The value of one cell, by indices.
template <class T, class Field, class Cells>
KOKKOS_INLINE_FUNCTION T updated_cell(const SweepInput<T, Field, Cells>& in, int dimensions, std::int64_t i,
                                      std::int64_t j, std::int64_t k) {
  using P = Padding<T>;
  const auto& s = in.stencil;
  const auto& n = in.block.extents;
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

/// On any execution space, a work item a cell. Returns the norm's
/// part for these cells (largest change, or sum of squared changes), 0 without a norm.
template <class T, class ExecutionSpace>
double sweep_cells(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out,
                   const Box& box, Norm norm) {
  using P = Padding<T>;
  using Policy =
      Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                            Kokkos::IndexType<std::int64_t>>;
  const Policy policy(instance, {box.begin[2], box.begin[1], box.begin[0]},
                      {box.end[2], box.end[1], box.end[0]});
  const int dimensions = in.block.dimensions;
  const std::int64_t z = P::z(dimensions);
  double result = 0;
  if (norm == Norm::none)
    Kokkos::parallel_for(
        "heat/sweep", policy, KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i) {
          out(k + z, j + P::y, i + P::x) = updated_cell(in, dimensions, i, j, k);
        });
  else if (norm == Norm::max)
    Kokkos::parallel_reduce(
        "heat/sweep", policy,
        KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& largest) {
          const T value = updated_cell(in, dimensions, i, j, k);
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
          const T value = updated_cell(in, dimensions, i, j, k);
          const T change = value - in.u(k + z, j + P::y, i + P::x);
          out(k + z, j + P::y, i + P::x) = value;
          sum += static_cast<double>(change) * static_cast<double>(change);
        },
        result);
  return result;
}

} // namespace kontor::heat::test
