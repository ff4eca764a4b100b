// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/fields.hpp"
#include "dynamics/options.hpp"
#include "mesh/local_mesh.hpp"

namespace kontor::dynamics {

/// The body as a rank computes it: its part of the mesh and the fields on it.
template <class T>
struct Body {
  /// Collective. The initial state. Throws AgreedError if the Views do not fit in memory, config::Error if a formula
  /// gives values that are not allowed.
  Body(const Options&, const comm::Communicator&);

  /// Local; waits. The initial state again.
  void reset();

  Options options;
  mesh::LocalMesh mesh;
  BlockOrder<T> order; ///< elements that touch nodes of other ranks, then the others
  NodeFields<T> nodes;
  NodeView<T* [6]> initial; ///< motion at the start
  ElementFields<T> elements;
  mesh::CornerSums<T> sums; ///< of the elements' forces
  Clock clock;

 private:
  void take_material(const comm::Communicator&, const mesh::NodeCorners&);
};

} // namespace kontor::dynamics
