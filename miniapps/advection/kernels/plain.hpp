// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

/// A step of the first-order upwind scheme as a textbook has it, on a CPU and on a device.
namespace kontor::advection {

/// Own cells: `count` of them, `stride` apart.
struct Cells {
  std::int64_t begin, count, stride = 1;
};

/// Local; queued on `instance`. to_i = (1 - courant) from_i + courant from_(i + upwind) of the cells, own cell 0 being
/// `first` in both fields. The cell upwind is beside it: upwind is -1 or 1. A sum of two parts, so that with courant 1
/// not a bit changes.
inline void plain_step(const grid::FieldView<double>::execution_space& instance, const grid::FieldView<double>& from,
                       const grid::FieldView<double>& to, double courant, std::int64_t upwind, std::int64_t first,
                       const Cells& cells) {
  using Space = grid::FieldView<double>::execution_space;
  const auto begin = first + cells.begin, stride = cells.stride;
  Kokkos::parallel_for(
      "advection/upwind", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, cells.count),
      KOKKOS_LAMBDA(std::int64_t n) {
        const auto i = begin + n * stride;
        to(0, 0, i) = (1 - courant) * from(0, 0, i) + courant * from(0, 0, i + upwind);
      });
}

} // namespace kontor::advection
