// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/kernels/assemble.hpp"
#include "dynamics/options.hpp"
#include "mesh/node_corners.hpp"
#include "mesh/seam.hpp"

namespace kontor::dynamics {

/// The body as a rank computes it: its part of the mesh and the fields on it.
template <class T>
struct Body {
  /// Collective. The initial state. Throws AgreedError if the Views do not fit in memory, config::Error if a formula
  /// gives values that are not allowed.
  Body(const Options&, const comm::Communicator&);

  /// Local; waits. The initial state again.
  void reset();

  /// Where local element `e` is, counted in lanes.
  LocalIndex slot(LocalIndex e) const { return e < mesh.edge ? e : edge.end * width<T> + (e - mesh.edge); }
  /// The end of the lanes that are as local element `e`: of the last one, those that fill up its block, too.
  LocalIndex slots_end(LocalIndex e) const {
    const bool last = e + 1 == mesh.edge || e + 1 == mesh.elements();
    return last ? (slot(e) / width<T> + 1) * width<T> : slot(e) + 1;
  }
  /// A number of local element `e` in a field on the host.
  template <class View>
  auto& number(const View& field, LocalIndex e, int i) const {
    return lane(field(slot(e) / width<T>, i), slot(e) % width<T>);
  }
  /// Displacements and velocities at the start.
  const NodeView<T* [6]>& initial() const { return initial_; }
  /// All blocks.
  Blocks all() const {
    return {0, interior.end};
  }

  Options options;
  mesh::LocalMesh mesh;
  Blocks edge, interior; ///< of elements that touch nodes of other ranks, and of the others
  NodeFields<T> nodes;
  ElementFields<T> elements;
  ForceRows corners;
  Clock clock;

 private:
  void take_mesh(const mesh::NodeCorners&);
  void take_material(const comm::Communicator&, const mesh::NodeCorners&);
  void take_velocity(const comm::Communicator&);

  NodeView<T* [6]> initial_;
};

} // namespace kontor::dynamics
