// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/axis_parts.hpp"

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <utility>

/// The three ways in which ranks have the field: lines of x, then of y, then of z, each in one piece.
namespace kontor::fft {

using Space = Kokkos::DefaultExecutionSpace;
using grid::AxisRange;
template <class T>
using Complex = Kokkos::complex<T>;

using Ranges = std::array<AxisRange, 3>; ///< of x, y, z

/// What a rank has of an array, and the order in which it lies.
struct Pencil {
  Ranges own;                ///< global indices of x, y, z
  std::array<int, 3> order;  ///< of the axes in memory, slowest first; the last is whole
  std::array<int, 3> cuts{}; ///< into how many parts x, y, z are cut

  std::int64_t extent(int axis) const { return own[axis].size(); }
  std::int64_t size() const { return extent(0) * extent(1) * extent(2); }
  std::int64_t line() const { return extent(order[2]); }
  std::int64_t lines() const { return extent(order[0]) * extent(order[1]); }
  /// Elements from one index of an axis to the next.
  std::int64_t stride(int axis) const {
    std::int64_t stride = 1;
    for (int d = 2; order[d] != axis; --d) stride *= extent(order[d]);
    return stride;
  }
};

/// Local. Lines of x, y and z of a rank at these coordinates of the process grid. The first number of the grid cuts y,
/// then x twice; the second cuts z twice, then y.
inline std::array<Pencil, 3> make_pencils(const std::array<std::int64_t, 3>& n, const std::array<std::int64_t, 2>& grid,
                                          const std::array<std::int64_t, 2>& at) {
  const auto part = [&](int axis, int dim) { return grid::part_of_axis(n[axis], grid[dim], at[dim]); };
  const auto all = [&](int axis) { return AxisRange{0, n[axis]}; };
  const auto p1 = static_cast<int>(grid[0]), p2 = static_cast<int>(grid[1]);
  return {Pencil{{all(0), part(1, 0), part(2, 1)}, {2, 1, 0}, {1, p1, p2}},
          Pencil{{part(0, 0), all(1), part(2, 1)}, {2, 0, 1}, {p1, 1, p2}},
          Pencil{{part(0, 0), part(1, 1), all(2)}, {0, 1, 2}, {p1, p2, 1}}};
}

/// An array with indices z, y, x, whatever their order in memory.
template <class T>
using Array = Kokkos::View<T***, Kokkos::LayoutStride, Space::memory_space, Kokkos::MemoryUnmanaged>;

/// Local. The values of a pencil in memory that outlives it.
template <class T>
Array<T> array_of(const Pencil& pencil, T* data) {
  const auto n = [&](int axis) { return static_cast<std::size_t>(pencil.extent(axis)); };
  const auto s = [&](int axis) { return static_cast<std::size_t>(pencil.stride(axis)); };
  return Array<T>(data, Kokkos::LayoutStride(n(2), s(2), n(1), s(1), n(0), s(0)));
}

/// Local. A box of global indices, which the pencil has all of.
template <class T>
Array<T> part_of(const Pencil& pencil, T* data, const Ranges& box) {
  const auto range = [&](int axis) {
    return std::pair(box[axis].begin - pencil.own[axis].begin, box[axis].end - pencil.own[axis].begin);
  };
  return Kokkos::subview(array_of(pencil, data), range(2), range(1), range(0));
}

} // namespace kontor::fft
