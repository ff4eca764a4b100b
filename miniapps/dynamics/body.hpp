// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/kernels/assemble.hpp"
#include "dynamics/mesh/local_mesh.hpp"
#include "dynamics/options.hpp"

#include <kontor/comm/exchange.hpp>

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
  /// Displacements and velocities at the start.
  const NodeView<T*[6]>& initial() const { return initial_; }
  /// All blocks.
  Blocks all() const { return {0, interior.end}; }

  Options options;
  LocalMesh mesh;
  Blocks edge, interior; ///< of elements that touch nodes of other ranks, and of the others
  NodeFields<T> nodes;
  ElementFields<T> elements;
  NodeCorners corners;
  Clock clock;

 private:
  void take_mesh();
  void take_material(const comm::Communicator&);
  void take_velocity(const comm::Communicator&);

  NodeView<T*[6]> initial_;
};

/// Collective; committed. What neighbours exchange of a View of nodes: Seam::recompute: ghosts = their owners' values;
/// Seam::sum: sums at common nodes.
template <class View>
comm::Exchange<View> make_seam(const comm::Communicator& comm, const LocalMesh& mesh, const View& values, Seam seam,
                               const std::string& label, const Space& instance = {}) {
  using Rows = Kokkos::View<const LocalIndex*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  comm::Exchange<View> exchange(comm, label, instance);
  for (const auto& [rank, sent, received] : mesh.neighbours) {
    if (!sent.empty()) exchange.add_send(values, Rows(sent.data(), sent.size()), rank);
    if (received.empty()) continue;
    if (seam == Seam::sum) // in place of the sender's row
      exchange.add_receive(values, Rows(received.data(), received.size()), rank, comm::ReceiveOp::add);
    else // ghosts of a rank follow each other
      exchange.add_receive(values, std::pair(received.front(), received.back() + 1), rank);
  }
  exchange.commit();
  exchange.measure_times();
  return exchange;
}

} // namespace kontor::dynamics
