// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/blocks.hpp"
#include "element/hexahedron.hpp"
#include "element/tensor.hpp"
#include "mesh/corner_sums.hpp"

/// What the kernels work on.
namespace kontor::dynamics {

using namespace element;
using mesh::LocalIndex, mesh::NodeView, mesh::on_host, mesh::range;

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

inline constexpr int viscous_numbers = 13;

/// The elements that a rank computes.
template <class T>
struct ElementFields {
  mesh::BlockCorners corner;        ///< nodes
  ElementView<T> material;          ///< Lame's lambda, Lame's mu, mass
  ElementView<T> rate;              ///< 9: velocity gradient; then 6: strain rate in the unrotated frame
  ElementView<T> stretch, rotation; ///< 6 and 9: of the deformation, left stretch times rotation
  ElementView<T> stress;            ///< 6: in the unrotated frame
  ElementView<T> hourglass;         ///< 4 modes x 3: resistance, in the unrotated frame
  ElementView<T> viscous;           ///< 4 modes x 3: resistance by viscosity; then 1: energy it took; or no elements
  ElementView<T> stable_step;       ///< 1
  Kokkos::View<T* [3]> force;       ///< (slots x 8 corners) x 3: on the nodes, row corner_row(slot, corner)
};

/// Times in the memory of kernels: the lengths of the last two steps, the time that all took, and the least stable step
/// of all elements where it was last looked for; the sum of relative changes of the length; how many steps it has.
enum ClockEntry { step_before, last_step, elapsed, least_stable, variation, ticks, clock_entries };
using Clock = Kokkos::View<double[clock_entries]>;

} // namespace kontor::dynamics
