// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"
#include "machine/huge_pages.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <string>

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

/// Zero-initialised. On a host each thread writes the rows that it has in loops over y, first: a page lies near the
/// thread that touches it first, and Kokkos initialises by one thread.
template <class T>
FieldView<T> make_field(const std::string& label, const Block& block) {
  using Space = typename FieldView<T>::execution_space;
  const auto extents = field_extents<T>(block);
  if constexpr (device::kernels_on_host) {
    const FieldView<T> field(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extents[0], extents[1],
                             extents[2]);
    miniapp::use_huge_pages(field);
    Kokkos::parallel_for("grid/first touch", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, extents[1]),
                         [=](std::int64_t j) {
                           for (std::int64_t k = 0; k < extents[0]; ++k) std::fill_n(&field(k, j, 0), extents[2], T(0));
                         });
    return field;
  } else {
    return FieldView<T>(label, extents[0], extents[1], extents[2]);
  }
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

/// Room for as many values in host memory: the values themselves where the host reaches them.
template <class T>
HostBlockView<T> room_on_host(const BlockView<T>& values) {
  if constexpr (device::on_host<BlockView<T>>)
    return values;
  else
    return HostBlockView<T>(Kokkos::view_alloc("grid/values on host", Kokkos::WithoutInitializing), values.extent(0),
                            values.extent(1), values.extent(2));
}

/// to(k, j, i) = from(k, j, i), on the default instance.
template <class To, class From>
void copy_values(const To& to, const From& from) {
  using Policy = Kokkos::MDRangePolicy<typename To::execution_space,
                                       Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                                       Kokkos::IndexType<std::int64_t>>;
  const auto extent = [&](int d) { return static_cast<std::int64_t>(to.extent(d)); };
  Kokkos::parallel_for(
      "grid/copy", Policy({0, 0, 0}, {extent(0), extent(1), extent(2)}),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i) { to(k, j, i) = from(k, j, i); });
}

} // namespace kontor::grid
