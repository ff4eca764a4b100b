// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/lanes.hpp"

/// Elements in blocks of as many as a kernel's iteration treats: the element in slot s is lane s % width of block
/// s / width.
namespace kontor::element {

/// Blocks x numbers of an element. A device has consecutive elements side by side.
template <class T>
using ElementView = Kokkos::View<Lanes<T>**>;

/// A run of blocks.
struct Blocks {
  std::int32_t begin = 0, end = 0;
};

/// Elements in two runs, each of which begins with a block: the first `edge_elements`, and the others.
template <class T>
struct BlockOrder {
  std::int32_t edge_elements = 0, elements = 0;

  KOKKOS_INLINE_FUNCTION static std::int32_t blocks_of(std::int32_t count) { return (count + width<T> - 1) / width<T>; }
  KOKKOS_INLINE_FUNCTION Blocks edge() const { return {0, blocks_of(edge_elements)}; }
  Blocks interior() const { return {edge().end, edge().end + blocks_of(elements - edge_elements)}; }
  Blocks all() const { return {0, interior().end}; }

  std::int32_t slot(std::int32_t e) const {
    return e < edge_elements ? e : edge().end * width<T> + (e - edge_elements);
  }
  /// How many lanes of a block have an element; the others are as the last one that has.
  KOKKOS_INLINE_FUNCTION int lanes_in(std::int32_t block) const {
    const auto before = block < edge().end ? block * width<T> : edge_elements + (block - edge().end) * width<T>;
    const auto left = (block < edge().end ? edge_elements : elements) - before;
    return left < width<T> ? left : width<T>;
  }
  /// f(block, lane) of element e and of the lanes that are as it is.
  template <class F>
  void each_lane(std::int32_t e, const F& f) const {
    const auto block = slot(e) / width<T>;
    const int first = slot(e) % width<T>, end = first + 1 == lanes_in(block) ? width<T> : first + 1;
    for (int l = first; l < end; ++l) f(block, l);
  }
  /// A number of element e in a View on the host, and its first n.
  template <class View>
  auto& number(const View& view, std::int32_t e, int i) const {
    return lane(view(slot(e) / width<T>, i), slot(e) % width<T>);
  }
  template <std::size_t n, class View, class S>
  void read(const View& view, std::int32_t e, S (&values)[n]) const {
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<S>(number(view, e, static_cast<int>(i)));
  }
};

template <std::size_t n, class View, class V>
KOKKOS_INLINE_FUNCTION void load(const View& view, std::int32_t block, V (&values)[n]) {
  unroll<static_cast<int>(n)>([&](auto i) { values[i] = view(block, static_cast<int>(i)); });
}
template <std::size_t n, class View, class V>
KOKKOS_INLINE_FUNCTION void store(const View& view, std::int32_t block, const V (&values)[n]) {
  unroll<static_cast<int>(n)>([&](auto i) { view(block, static_cast<int>(i)) = values[i]; });
}

/// Collects numbers 2 `pair`, 2 `pair` + 1, ... of the nodes at the corners of elements. `corner`: blocks x 8 x width.
template <int pair, class Corner, class OfNodes, class... V>
KOKKOS_INLINE_FUNCTION void gather(const Corner& corner, const OfNodes& of_nodes, std::int32_t block,
                                   V (&... values)[8]) {
  using Values = std::common_type_t<V...>;
  Values* const numbers[] = {values...};
  unroll<8>([&](auto c) {
    constexpr int lanes = static_cast<int>(sizeof(Values) / sizeof(Scalar<Values>));
    const Scalar<Values>* row[lanes];
    unroll<lanes>(
        [&](auto l) { row[l] = &of_nodes(corner(block, static_cast<int>(c), static_cast<int>(l)), 2 * pair); });
    unroll<sizeof...(V) / 2>(
        [&](auto p) { load_pairs([&](auto l) { return row[l] + 2 * p; }, numbers[2 * p][c], numbers[2 * p + 1][c]); });
  });
}

/// The row of a corner of the element in a slot, in a View of (slots x 8 corners) rows. On a host the corners of an
/// element lie together, on a device the same corners of elements.
template <class View>
KOKKOS_INLINE_FUNCTION std::int32_t corner_row(const View& of_corners, std::int32_t slot, int corner) {
  if constexpr (device::kernels_on_host)
    return 8 * slot + corner;
  else
    return corner * static_cast<std::int32_t>(of_corners.extent(0) / 8) + slot;
}

/// Stores three numbers at each corner of elements.
template <class T, class V, class... Traits>
KOKKOS_INLINE_FUNCTION void store_at_corners(const Kokkos::View<T* [3], Traits...>& of_corners, std::int32_t block,
                                             const V (&values)[8][3]) {
  if constexpr (width<T> != 1) {
    T* const first = &of_corners(8 * width<T> * block, 0);
    unroll<12>([&](auto pair) {
      store_pairs(values[2 * pair / 3][2 * pair % 3], values[(2 * pair + 1) / 3][(2 * pair + 1) % 3],
                  [&](auto l) { return first + (24 * l + 2 * pair); });
    });
  } else {
    for (int c = 0; c < 8; ++c)
      for (int i = 0; i < 3; ++i) of_corners(corner_row(of_corners, block, c), i) = values[c][i];
  }
}

} // namespace kontor::element
