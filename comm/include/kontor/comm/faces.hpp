// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/exchange.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace kontor::comm {

namespace detail {

/// The cells [begin, end) along one axis; along others those that are not ghosts.
template <class View>
auto layer(const View& field, std::size_t axis, std::size_t begin, std::size_t end, std::size_t width) {
  using Range = std::pair<std::size_t, std::size_t>;
  constexpr auto rank = static_cast<std::size_t>(View::rank);
  std::array<Range, rank> ranges;
  for (std::size_t d = 0; d < rank; ++d)
    ranges[d] = d == axis ? Range(begin, end) : Range(width, field.extent(d) - width);
  if constexpr (rank == 1)
    return Kokkos::subview(field, ranges[0]);
  else if constexpr (rank == 2)
    return Kokkos::subview(field, ranges[0], ranges[1]);
  else
    return Kokkos::subview(field, ranges[0], ranges[1], ranges[2]);
}

/// Local. Throws CallError as add_faces() says.
void check_faces(const Communicator& grid, const Buffer& field, int width);

} // namespace detail

/// Local. Adds the halo of a field to an exchange over a process grid, whose dimensions are those of the field, 1 to 3.
/// The `width` outer cells of the field at each face are ghosts, which receive the nearest own cells of the neighbour
/// there; no ghosts across edges and corners. Two slots a dimension, on all ranks. Throws CallError if the grid has
/// other dimensions, or the field has fewer own cells than ghosts.
template <class View>
void add_faces(Exchange<View>& exchange, const Communicator& grid, const View& field, int width = 1) {
  constexpr auto rank = static_cast<std::size_t>(View::rank);
  static_assert(rank >= 1 && rank <= 3, "kontor::comm: add_faces() takes fields of 1 to 3 dimensions");
  detail::check_faces(grid, to_buffer(field), width);
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto n = field.extent(axis);
    const int lower = grid.neighbour(static_cast<int>(axis), -1), upper = grid.neighbour(static_cast<int>(axis), +1);
    const auto layer = [&](std::size_t begin) { return detail::layer(field, axis, begin, begin + w, w); };
    exchange.add(layer(w), lower, layer(n - w), upper);
    exchange.add(layer(n - 2 * w), upper, layer(0), lower);
  }
}

} // namespace kontor::comm
