// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/block.hpp"

#include <kontor/comm/kokkos/compat.hpp>

#include <Kokkos_Core.hpp>

#include <string>

/// The unknowns of one rank: a padded array (z, y, x) with one layer of ghost cells around the own cells.
namespace kontor::heat {

template <class T>
using FieldView = Kokkos::View<T***, Kokkos::LayoutRight>;

/// Where own cell (0, 0, 0) lies in the array. Along x the first own cell of every row begins a cache line.
template <class T>
struct Padding {
  static constexpr std::int64_t line = 64 / sizeof(T);
  static constexpr std::int64_t x = line;
  static constexpr std::int64_t y = 1;
  static constexpr std::int64_t z(int dimensions) { return dimensions == 3 ? 1 : 0; }
};

/// Extents (z, y, x) of the array: (nz + 2 or 1, ny + 2, nx + padding).
template <class T>
Index3 field_extents(const Block& block) {
  using P = Padding<T>;
  const auto row = (P::x + block.cells[0] + 1 + P::line - 1) / P::line * P::line;
  return {block.cells[2] + 2 * P::z(block.dimensions), block.cells[1] + 2 * P::y, row};
}

/// Zero-initialised.
template <class T>
FieldView<T> make_field(const std::string& label, const Block& block) {
  const auto extents = field_extents<T>(block);
  return FieldView<T>(label, extents[0], extents[1], extents[2]);
}

/// Own cells without padding and ghosts, (nz, ny, nx).
template <class T>
using CellView = Kokkos::View<T***, Kokkos::LayoutRight, typename FieldView<T>::memory_space>;

/// The source of a block, (nz, ny, nx), or no cells at all if there is none. Never a View by default: with
/// g++ 12 and Kokkos 4.6 the reference count of one that is copied around is not the null that it should be.
template <class T>
CellView<T> make_source(const Block& block, bool sourced) {
  if (!sourced) return CellView<T>("heat/no source", 0, 0, 0);
  return CellView<T>("heat/source", block.cells[2], block.cells[1], block.cells[0]);
}

/// The cells of a field that the host reaches.
template <class T>
using CellsOnHost = Kokkos::View<const T***, Kokkos::LayoutStride, Kokkos::HostSpace>;

template <class T>
using HostCells = Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// As many cells in host memory: the cells themselves where the host reaches them.
template <class T>
HostCells<T> room_on_host(const CellView<T>& cells) {
  if constexpr (comm::on_host<CellView<T>>)
    return cells;
  else
    return HostCells<T>(Kokkos::view_alloc("heat/cells on host", Kokkos::WithoutInitializing),
                        cells.extent(0), cells.extent(1), cells.extent(2));
}

/// The memory of a field that is not in use, as own cells in one piece: room to bring functions in and
/// results out. Writing to it spoils the field, its ghost cells included.
template <class T>
CellView<T> as_scratch(const FieldView<T>& field, const Block& block) {
  return CellView<T>(field.data(), block.cells[2], block.cells[1], block.cells[0]);
}

/// The cells of a box as a View (z, y, x); ghost cells have indices -1 and n.
template <class Field>
auto cells_of(const Field& field, const Block& block, const Box& box) {
  using P = Padding<typename Field::non_const_value_type>;
  const auto range = [&](int axis, std::int64_t padding) {
    return Kokkos::pair<std::int64_t, std::int64_t>(box.begin[axis] + padding, box.end[axis] + padding);
  };
  return Kokkos::subview(field, range(2, P::z(block.dimensions)), range(1, P::y), range(0, P::x));
}

/// to(k, j, i) = from(k, j, i), on the default instance.
template <class To, class From>
void copy_cells(const To& to, const From& from) {
  using Policy = Kokkos::MDRangePolicy<typename To::execution_space,
                                       Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>>;
  const auto extent = [&](int d) { return static_cast<std::int64_t>(to.extent(d)); };
  Kokkos::parallel_for(
      "heat/copy", Policy({0, 0, 0}, {extent(0), extent(1), extent(2)}),
      KOKKOS_LAMBDA(int k, int j, int i) { to(k, j, i) = from(k, j, i); });
}

/// The layer of own cells behind a face (0..5: x_min, x_max, y_min, ...), or that of ghost cells before it.
inline Box face_layer(const Block& block, int face, bool ghost) {
  const int axis = face / 2;
  const bool upper = face % 2 == 1;
  Box box = block.all();
  const auto inside = upper ? block.cells[axis] - 1 : 0;
  box.begin[axis] = ghost ? (upper ? inside + 1 : -1) : inside;
  box.end[axis] = box.begin[axis] + 1;
  return box;
}

} // namespace kontor::heat
