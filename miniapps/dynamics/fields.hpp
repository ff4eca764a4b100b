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
  Kokkos::View<T* [24]> force;        ///< elements x (8 corners x 3): on the nodes
};

/// Times in the memory of kernels: the lengths of the last two steps, and the time that all took.
enum ClockEntry { step_before, last_step, elapsed, clock_entries };
using Clock = Kokkos::View<double[clock_entries]>;

template <std::size_t n, class View, class V>
KOKKOS_INLINE_FUNCTION void load(const View& view, LocalIndex block, V (&values)[n]) {
  unroll<static_cast<int>(n)>([&](auto i) { values[i] = view(block, static_cast<int>(i)); });
}
template <std::size_t n, class View, class V>
KOKKOS_INLINE_FUNCTION void store(const View& view, LocalIndex block, const V (&values)[n]) {
  unroll<static_cast<int>(n)>([&](auto i) { view(block, static_cast<int>(i)) = values[i]; });
}

/// Collects where the corners of elements are, and their velocities.
template <class V, class Corner, class Motion>
KOKKOS_INLINE_FUNCTION void gather(const Corner& corner, const Motion& motion, LocalIndex block, Corners<V>& x,
                                   Corners<V>& v) {
  constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(Scalar<V>));
  unroll<8>([&](auto c) {
    const Scalar<V>* row[lanes];
    unroll<lanes>([&](auto l) { row[l] = &motion(corner(block, static_cast<int>(c), static_cast<int>(l)), 0); });
    unroll<3>([&](auto axis) {
      x.at[axis][c] = lanes_of<V>([&](auto l) { return row[l][axis]; });
      v.at[axis][c] = lanes_of<V>([&](auto l) { return row[l][3 + axis]; });
    });
  });
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
