// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "grid/layers.hpp"
#include "stepping/device.hpp"

#include <Kokkos_Core.hpp>

namespace kontor::grid {

namespace detail {

/// One work item a ghost, of all axes that wrap: a device pays for each kernel that it launches. Several layers of
/// ghosts are filled with their edges and corners, some twice, and from own cells or points along axes that wrap.
template <class T>
struct Wrap {
  T* first; ///< own cell or point (0, 0, 0)
  int ghosts;
  bool wraps[3];
  std::int64_t strides[3] = {};
  std::int64_t extents[3] = {};
  std::int64_t beyond[3] = {}; ///< layers at the beginning of another axis that are filled, too
  std::int64_t filled[3] = {}; ///< layers of it, with those at its end
  std::int64_t end[3] = {};    ///< of the items of each axis

  Wrap(const FieldView<T>& field, const Block& block) : ghosts(block.ghosts) {
    const auto before = padding<T>(block);
    first = field.data();
    for (int axis = 0; axis < 3; ++axis) {
      strides[axis] = static_cast<std::int64_t>(field.stride(2 - axis));
      extents[axis] = block.extents[axis];
      wraps[axis] = block.wraps[axis];
      // Those of other ranks are not: they may have come.
      const auto more = [&](int face) {
        return ghosts > 1 && axis < block.dimensions && block.neighbours[face] < 0 ? ghosts : 0;
      };
      beyond[axis] = more(2 * axis);
      filled[axis] = beyond[axis] + extents[axis] + more(2 * axis + 1);
      first += before[axis] * strides[axis];
    }
    std::int64_t items = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (block.wraps[axis]) items += 2 * ghosts * layer(axis);
      end[axis] = items;
    }
  }

  KOKKOS_FUNCTION std::int64_t layer(int axis) const { return filled[axis == 0 ? 1 : 0] * filled[axis == 2 ? 1 : 2]; }
  /// Where an item lies along another axis, and where its value comes from, from own cell or point 0.
  KOKKOS_FUNCTION void locate(int axis, std::int64_t index, T*& to, const T*& from) const {
    const auto place = index - beyond[axis];
    const auto n = wraps[axis] ? extents[axis] : 0;
    to += place * strides[axis];
    from += (place < 0 ? place + n : place >= extents[axis] ? place - n : place) * strides[axis];
  }

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    int axis = 0;
    while (axis < 2 && item >= end[axis]) ++axis;
    if (axis > 0) item -= end[axis - 1];
    int depth = 0;
    for (; item >= layer(axis); item -= layer(axis)) ++depth;
    const int a = axis == 0 ? 1 : 0;
    const int b = axis == 2 ? 1 : 2;
    T* to = first;
    const T* from = first;
    locate(a, item % filled[a], to, from);
    locate(b, item / filled[a], to, from);
    const auto n = extents[axis];
    const auto place = depth < ghosts ? -1 - depth : n + depth - ghosts;
    to[place * strides[axis]] = from[(depth < ghosts ? place + n : place - n) * strides[axis]];
  }
};

/// One kernel for all ghosts.
template <class T, class ExecutionSpace>
void wrap_by_kernel(const ExecutionSpace& instance, const FieldView<T>& field, const Block& block) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  const Wrap<T> kernel(field, block);
  if (kernel.end[2] > 0) Kokkos::parallel_for("grid/wrap", Policy(instance, 0, kernel.end[2]), kernel);
}

/// Layers row by row; several of them with what earlier axes have filled, and with ghosts before boundary faces.
template <class T>
void wrap_by_layers(const FieldView<T>& field, const Block& block) {
  using Policy = Kokkos::RangePolicy<typename FieldView<T>::execution_space, Kokkos::IndexType<std::int64_t>>;
  for (int face = 0; face < 2 * block.dimensions; ++face) {
    if (!block.wraps[face / 2]) continue;
    Box ghosts = ghost_layer(block, across(face));
    for (int axis = 0; axis < block.dimensions && block.ghosts > 1; ++axis) {
      if (axis == face / 2) continue;
      const auto filled = axis < face / 2 && block.wraps[axis] ? block.ghosts : 0;
      ghosts.begin[axis] -= block.at_boundary(2 * axis) ? 1 : filled;
      ghosts.end[axis] += block.at_boundary(2 * axis + 1) ? 1 : filled;
    }
    Box own = ghosts;
    const auto n = (face % 2 == 0 ? 1 : -1) * block.extents[face / 2];
    own.begin[face / 2] += n;
    own.end[face / 2] += n;
    const auto to = view_of(field, block, ghosts), from = view_of(field, block, own);
    const auto rows = ghosts.extent(1), cells = ghosts.extent(0);
    const auto ahead = static_cast<std::uintptr_t>(16 * field.stride(1) * sizeof(T)); // may lead past the end
    Kokkos::parallel_for("grid/wrap", Policy(0, rows * ghosts.extent(2)), [=](std::int64_t row) {
      const auto k = static_cast<std::uint32_t>(row) / static_cast<std::uint32_t>(rows); // wide ones divide slowly
      const auto j = static_cast<std::uint32_t>(row) % static_cast<std::uint32_t>(rows);
      T* const out = &to(k, j, 0);
      const T* const in = &from(k, j, 0);
      for (const T* const cell : {static_cast<const T*>(out), in}) // NOLINTNEXTLINE(performance-no-int-to-ptr)
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(cell) + ahead));
      std::copy_n(in, cells, out);
    });
  }
}

} // namespace detail

/// Local; waits for nothing. Fills the ghosts across the faces of axes that wrap; if they are several layers, across
/// edges and corners, too. On a host `instance` is the default one.
template <class T, class ExecutionSpace>
void wrap(const ExecutionSpace& instance, const FieldView<T>& field, const Block& block) {
  if constexpr (stepping::on_device)
    detail::wrap_by_kernel(instance, field, block);
  else
    detail::wrap_by_layers(field, block);
}

} // namespace kontor::grid
