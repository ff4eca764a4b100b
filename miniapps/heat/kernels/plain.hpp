// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/stencil.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

/// The sweep as a textbook has it, on a CPU and on a device. The tuned kernels compute the same bits.
namespace kontor::heat {

/// u_new = keep u + gain (sum over axes of c (u_lower + u_upper) + source) of own cell (i, j, k), into `out`. Returns
/// u_new - u.
template <class T, class Field, class Cells>
KOKKOS_INLINE_FUNCTION double update_cell(const SweepInput<T, Field, Cells>& in, const Field& out, std::int64_t i,
                                          std::int64_t j, std::int64_t k) {
  const bool has_z = in.block.dimensions == 3;
  const auto x = i + Padding<T>::x, y = j + Padding<T>::y, z = k + (has_z ? 1 : 0);
  const auto& u = in.u;
  const auto& s = in.stencil;
  const auto& n = in.block.extents;

  T sum = s.c[0] * (u(z, y, x - 1) + u(z, y, x + 1)) + s.c[1] * (u(z, y - 1, x) + u(z, y + 1, x));
  if (has_z) sum += s.c[2] * (u(z - 1, y, x) + u(z + 1, y, x));
  if (in.source.size() > 0) sum += in.source(k, j, i);
  const auto w = s.weights(s.extra(0, i, n[0]), s.extra(1, j, n[1]), has_z ? s.extra(2, k, n[2]) : T(0));
  const T value = w.keep * u(z, y, x) + w.gain * sum;
  out(z, y, x) = value;
  return value - u(z, y, x);
}

/// Local; queued on a device. Updates the cells of `box`, whose ghost cells must be valid, a work item a cell. With a
/// norm, *part, in the memory of the space, is that of these cells: the largest change, or the sum of squared changes.
template <class T, class Field, class Cells, class ExecutionSpace>
void plain_sweep(const ExecutionSpace& instance, const SweepInput<T, Field, Cells>& in, const Field& out,
                 const Box& box, Norm norm, double* part) {
  using Order = Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>; // i is the innermost loop
  using Index = std::int64_t;
  const Kokkos::MDRangePolicy<ExecutionSpace, Order, Kokkos::IndexType<Index>> cells(
      instance, {box.begin[2], box.begin[1], box.begin[0]}, {box.end[2], box.end[1], box.end[0]});
  using Space = typename Field::memory_space;
  using Part = Kokkos::View<double, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (norm == Norm::none)
    Kokkos::parallel_for(
        "heat/sweep", cells, KOKKOS_LAMBDA(Index k, Index j, Index i) { update_cell(in, out, i, j, k); });
  else if (norm == Norm::max)
    Kokkos::parallel_reduce(
        "heat/sweep", cells,
        KOKKOS_LAMBDA(Index k, Index j, Index i, double& largest) {
          const double change = update_cell(in, out, i, j, k);
          largest = joined<Norm::max>(largest, change < 0 ? -change : change);
        },
        Kokkos::Max<double, Space>(Part(part)));
  else
    Kokkos::parallel_reduce(
        "heat/sweep", cells,
        KOKKOS_LAMBDA(Index k, Index j, Index i, double& sum) {
          const double change = update_cell(in, out, i, j, k);
          sum += change * change;
        },
        Part(part));
}

} // namespace kontor::heat
