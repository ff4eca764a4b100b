// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/for_cells.hpp"

namespace kontor::advection {

/// What a step takes from upwind along an axis: part c of the difference from the cell that is `upwind` away, -1 or 1.
struct Axis {
  double c;
  int upwind;
};

/// Local; queued on `instance`. First-order upwind differences in the cells of a box:
/// to = from - c_x (from - from_(upwind along x)) - c_y (from - from_(upwind along y)).
inline void plain_step(const grid::FieldView<double>::execution_space& instance, const grid::Block& block,
                       const grid::FieldView<double>& from, const grid::FieldView<double>& to, const grid::Box& box,
                       const Axis& x, const Axis& y) {
  grid::for_cells<double>(
      "advection/upwind", instance, block, box, KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i) {
        const double u = from(k, j, i);
        to(k, j, i) = u - x.c * (u - from(k, j, i + x.upwind)) - y.c * (u - from(k, j + y.upwind, i));
      });
}

} // namespace kontor::advection
