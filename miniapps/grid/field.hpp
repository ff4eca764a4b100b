// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

/// Values at the cells or points of one rank: a padded array (z, y, x) with layers of ghosts around the own ones.
namespace kontor::grid {

template <class T>
using FieldView = Kokkos::View<T***, Kokkos::LayoutRight>;

/// The own cells or points without padding and ghosts, (nz, ny, nx).
template <class T>
using BlockView = Kokkos::View<T***, Kokkos::LayoutRight, typename FieldView<T>::memory_space>;

/// The same in host memory.
template <class T>
using HostBlockView = Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// The values of a field that the host reaches.
template <class T>
using ValuesOnHost = Kokkos::View<const T***, Kokkos::LayoutStride, Kokkos::HostSpace>;

/// Where own cell or point (0, 0, 0) lies in the array, for kernels of 2 or 3 dimensions that know how many layers of
/// ghosts there are. Along x the first own one of every row begins a cache line.
template <class T, int ghosts = 1>
struct Padding {
  static constexpr std::int64_t line = 64 / sizeof(T);
  static constexpr std::int64_t x = (ghosts + line - 1) / line * line;
  static constexpr std::int64_t y = ghosts;
  static constexpr std::int64_t z(int dimensions) { return dimensions == 3 ? ghosts : 0; }
};

/// Own cell (0, 0, 0) itself, of a field with one layer of ghosts.
template <class Field>
auto* own_cell(const Field& u, int dimensions) {
  using P = Padding<typename Field::non_const_value_type>;
  return u.data() + P::z(dimensions) * u.stride(0) + P::y * u.stride(1) + P::x;
}

/// The padding of any block; axes x, y, z.
template <class T>
Index3 padding(const Block& block) {
  constexpr auto line = Padding<T>::line;
  const std::int64_t ghosts = block.ghosts;
  return {(ghosts + line - 1) / line * line, block.dimensions > 1 ? ghosts : 0, block.dimensions > 2 ? ghosts : 0};
}

/// Extents (z, y, x) of the array: (nz + 2 ghosts, ny + 2 ghosts, nx + padding), without ghosts along axes that there
/// are not.
template <class T>
Index3 field_extents(const Block& block) {
  constexpr auto line = Padding<T>::line;
  const auto before = padding<T>(block);
  const auto row = (before[0] + block.extents[0] + block.ghosts + line - 1) / line * line;
  return {block.extents[2] + 2 * before[2], block.extents[1] + 2 * before[1], row};
}

/// Where that element of a field is, in whatever memory.
template <class T>
T* address(const FieldView<T>& field, std::int64_t k, std::int64_t j, std::int64_t i) {
  return field.data() + k * static_cast<std::int64_t>(field.stride(0)) +
         j * static_cast<std::int64_t>(field.stride(1)) + i;
}

/// The same field for kernels that know of one layer of ghosts: own cell or point (0, 0, 0) lies where Padding<T> says.
template <class T>
FieldView<T> with_one_ghost(const FieldView<T>& field, const Block& block) {
  if (block.ghosts == 1) return field;
  const auto before = padding<T>(block);
  const auto beyond = [&](int axis) { return std::max<std::int64_t>(0, before[axis] - 1); };
  // Ends within the field, and keeps the strides that it needs.
  const bool planes = block.dimensions == 3;
  return FieldView<T>(address(field, beyond(2), beyond(1), before[0] - Padding<T>::x), field.extent(0) - 2 * beyond(2),
                      field.extent(1) - (planes ? 0 : 2 * beyond(1)), field.extent(2));
}

/// The part of a field in a box, as a View (z, y, x).
template <class Field>
auto view_of(const Field& field, const Block& block, const Box& box) {
  const auto before = padding<typename Field::non_const_value_type>(block);
  const auto range = [&](int axis) {
    return Kokkos::pair<std::int64_t, std::int64_t>(box.begin[axis] + before[axis], box.end[axis] + before[axis]);
  };
  return Kokkos::subview(field, range(2), range(1), range(0));
}

} // namespace kontor::grid
