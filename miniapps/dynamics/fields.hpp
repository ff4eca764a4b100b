// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/hexahedron.hpp"
#include "element/tensor.hpp"
#include "mesh/directory.hpp"
#include "stepping/device.hpp"

#include <array>

/// What the kernels work on. Elements stand in blocks of as many as a kernel's iteration treats: element e is lane
/// e % width of block e / width.
namespace kontor::dynamics {

using namespace element;
using mesh::LocalIndex;

template <class T>
using NodeView = Kokkos::View<T, Kokkos::LayoutRight>; ///< nodes x numbers: those of a node lie together

/// Blocks x numbers of an element. A device has consecutive elements side by side.
template <class T>
using ElementView = Kokkos::View<Lanes<T>**>;

/// A run of blocks.
struct Blocks {
  LocalIndex begin = 0, end = 0;
};

/// The nodes of a rank, with those of other ranks that its elements have.
template <class T>
struct NodeFields {
  NodeView<T* [3]> place;        ///< where a node is without load
  NodeView<T* [3]> displacement; ///< from there
  NodeView<T* [6]> motion;       ///< where it is now, and its velocity half a step earlier
  NodeView<double* [3]> force;   ///< of the elements
  Kokkos::View<double*> mass;    ///< an eighth of that of each adjoining element
  Kokkos::View<bool*> held;      ///< has no acceleration
};

/// The elements that a rank computes.
template <class T>
struct ElementFields {
  Kokkos::View<LocalIndex***> corner; ///< blocks x 8 x width: the node
  Kokkos::View<bool**> counts;        ///< blocks x width: false of lanes that only fill up a block
  ElementView<T> material;            ///< Lame's lambda, Lame's mu, mass
  ElementView<T> rate;                ///< 9: velocity gradient; then 6: strain rate in the unrotated frame
  ElementView<T> stretch, rotation;   ///< 6 and 9: of the deformation, left stretch times rotation
  ElementView<T> stress;              ///< 6: in the unrotated frame
  ElementView<T> hourglass;           ///< 4 modes x 3: resistance, in the unrotated frame
  ElementView<T> stable_step;         ///< 1
  Kokkos::View<T* [3]> force;         ///< (elements x 8 corners) x 3: on the nodes, row corner_row(element, corner)

  /// On a host the corners of an element lie together, on a device the same corners of elements.
  KOKKOS_INLINE_FUNCTION LocalIndex corner_row(LocalIndex element, int corner) const {
    if constexpr (device::kernels_on_host)
      return 8 * element + corner;
    else
      return corner * static_cast<LocalIndex>(stable_step.extent(0)) + element;
  }
};

/// Times in the memory of kernels: the lengths of the last two steps, the time that all took, and the least stable step
/// of all elements where it was last looked for.
enum ClockEntry { step_before, last_step, elapsed, least_stable, clock_entries };
using Clock = Kokkos::View<double[clock_entries]>;

template <std::size_t n, class View, class V>
KOKKOS_INLINE_FUNCTION void load(const View& view, LocalIndex block, V (&values)[n]) {
  unroll<static_cast<int>(n)>([&](auto i) { values[i] = view(block, static_cast<int>(i)); });
}
template <std::size_t n, class View, class V>
KOKKOS_INLINE_FUNCTION void store(const View& view, LocalIndex block, const V (&values)[n]) {
  unroll<static_cast<int>(n)>([&](auto i) { view(block, static_cast<int>(i)) = values[i]; });
}

/// Collects numbers 2 `pair`, 2 `pair` + 1, ... of the motion of the corners of elements.
template <int pair, class Corner, class Motion, class... V>
KOKKOS_INLINE_FUNCTION void gather(const Corner& corner, const Motion& motion, LocalIndex block, V (&... values)[8]) {
  using Values = std::common_type_t<V...>;
  Values* const numbers[] = {values...};
  unroll<8>([&](auto c) {
    constexpr int lanes = static_cast<int>(sizeof(Values) / sizeof(Scalar<Values>));
    const Scalar<Values>* row[lanes];
    unroll<lanes>([&](auto l) { row[l] = &motion(corner(block, static_cast<int>(c), static_cast<int>(l)), 2 * pair); });
    unroll<sizeof...(V) / 2>(
        [&](auto p) { load_pairs([&](auto l) { return row[l] + 2 * p; }, numbers[2 * p][c], numbers[2 * p + 1][c]); });
  });
}

/// Stores forces at the corners of elements.
template <class T, class V>
KOKKOS_INLINE_FUNCTION void store_forces(const ElementFields<T>& elements, LocalIndex block, const V (&force)[8][3]) {
  if constexpr (width<T> != 1) {
    T* const first = &elements.force(8 * width<T> * block, 0);
    unroll<12>([&](auto pair) {
      store_pairs(force[2 * pair / 3][2 * pair % 3], force[(2 * pair + 1) / 3][(2 * pair + 1) % 3],
                  [&](auto l) { return first + (24 * l + 2 * pair); });
    });
  } else {
    for (int c = 0; c < 8; ++c)
      for (int i = 0; i < 3; ++i) elements.force(elements.corner_row(block, c), i) = force[c][i];
  }
}

/// Rows in no order are fetched early on hosts; devices hide that by other threads.
template <class T>
KOKKOS_INLINE_FUNCTION void prefetch_on_host([[maybe_unused]] const T* address) {
  if constexpr (device::kernels_on_host) __builtin_prefetch(address);
}

/// A copy that the host can read.
template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Blocks or nodes [begin, end).
inline auto range(const Space& instance, LocalIndex begin, LocalIndex end) {
  return stepping::by_value_at_launch(Kokkos::RangePolicy<Space, Kokkos::IndexType<LocalIndex>>(instance, begin, end));
}

} // namespace kontor::dynamics
