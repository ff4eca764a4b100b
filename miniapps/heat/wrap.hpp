// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/device.hpp"
#include "heat/field.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace kontor::heat {

namespace detail {

/// One work item a ghost cell, of all axes that wrap: a device pays for each kernel that it launches.
template <class T>
struct Wrap {
  T* first; ///< own cell (0, 0, 0)
  std::int64_t strides[3] = {};
  std::int64_t cells[3] = {};
  std::int64_t end[3] = {}; ///< of the items of each axis

  Wrap(const FieldView<T>& field, const Block& block) {
    using P = Padding<T>;
    for (int axis = 0; axis < 3; ++axis) {
      strides[axis] = static_cast<std::int64_t>(field.stride(2 - axis));
      cells[axis] = block.cells[axis];
    }
    first = field.data() + P::z(block.dimensions) * strides[2] + P::y * strides[1] + P::x;
    std::int64_t items = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (block.wraps[axis]) items += 2 * layer(axis);
      end[axis] = items;
    }
  }

  KOKKOS_FUNCTION std::int64_t layer(int axis) const {
    return cells[axis == 0 ? 1 : 0] * cells[axis == 2 ? 1 : 2];
  }

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    int axis = 0;
    while (axis < 2 && item >= end[axis]) ++axis;
    if (axis > 0) item -= end[axis - 1];
    const bool upper = item >= layer(axis);
    if (upper) item -= layer(axis);
    const int a = axis == 0 ? 1 : 0;
    const int b = axis == 2 ? 1 : 2;
    T* line = first + item % cells[a] * strides[a] + item / cells[a] * strides[b];
    const auto last = cells[axis] - 1;
    line[(upper ? last + 1 : -1) * strides[axis]] = line[(upper ? 0 : last) * strides[axis]];
  }
};

} // namespace detail

/// Local; waits for nothing. Fills the ghost cells along the axes that wrap.
template <class T, class ExecutionSpace>
void wrap(const ExecutionSpace& instance, const FieldView<T>& field, const Block& block) {
  const detail::Wrap<T> kernel(field, block);
  if (kernel.end[2] == 0) return;
  if constexpr (on_device) {
    using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("heat/wrap", Policy(instance, 0, kernel.end[2]), kernel);
  } else { // whole layers, which the compiler vectorises
    const auto copy = [&](int ghost_face, int own_face) {
      copy_cells(cells_of(field, block, face_layer(block, ghost_face, true)),
                 cells_of(field, block, face_layer(block, own_face, false)));
    };
    for (int axis = 0; axis < block.dimensions; ++axis) {
      if (!block.wraps[axis]) continue;
      copy(2 * axis, 2 * axis + 1);
      copy(2 * axis + 1, 2 * axis);
    }
  }
}

} // namespace kontor::heat
