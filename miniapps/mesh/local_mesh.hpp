// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/source.hpp"

#include <kontor/comm/exchange.hpp>

#include <utility>

namespace kontor::mesh {

/// How the sums at nodes of several ranks are made. `redundant`: each rank also computes the elements of other ranks
/// that its nodes have, and values of nodes travel; same bits on any ranks. `sum`: each element is computed once, and
/// partial sums travel and are added, in the order of ranks.
enum class SharedNodes { redundant, sum };

/// Nodes that this rank and another exchange: those of `sent` arrive there in the order of its `received`.
struct Neighbour {
  int rank = 0;
  std::vector<LocalIndex> sent, received;
};

/// The part of the mesh that a rank computes.
///
/// SharedNodes::redundant: nodes that the rank has, by number; then ghosts, by owner and number: the nodes of other
/// ranks that its elements have. Elements are its own and all that its nodes have. SharedNodes::sum: nodes of its
/// elements, first those that other ranks have, too. In either case elements that touch such nodes come first: the
/// edge.
struct LocalMesh {
  GlobalIndex all_elements = 0, all_nodes = 0;
  std::vector<GlobalIndex> element; ///< numbers
  std::vector<bool> own;            ///< of the partition's elements
  std::vector<std::array<LocalIndex, 8>> corner;
  LocalIndex edge = 0; ///< elements

  std::vector<GlobalIndex> node; ///< numbers
  std::vector<NodePlace> place;  ///< of nodes
  LocalIndex updated = 0;        ///< nodes that are integrated here; the others are ghosts
  LocalIndex shared = 0;         ///< the first nodes that other ranks have, too; SharedNodes::redundant: 0
  std::vector<bool> counted;     ///< nodes of which this is the rank of least number: each node once
  std::vector<Neighbour> neighbours;

  LocalIndex elements() const { return static_cast<LocalIndex>(element.size()); }
  LocalIndex nodes() const { return static_cast<LocalIndex>(node.size()); }
  CornerPoints points(LocalIndex e) const {
    CornerPoints result;
    for (int c = 0; c < 8; ++c) result[c] = place[corner[e][c]].place;
    return result;
  }
};

/// Local. The mean of the corners.
Point centre(const CornerPoints&);

/// Collective. The mesh of the options. A node belongs to the least rank that has elements of it. Throws config::Error
/// if an element is there twice, is inverted or degenerate, or if a node has none.
LocalMesh make_mesh(const Options&, const comm::Communicator&, SharedNodes);

/// Collective; committed. What neighbours exchange of a View of nodes: SharedNodes::redundant: ghosts = their owners'
/// values; SharedNodes::sum: sums at common nodes.
template <class View>
comm::Exchange<View> make_exchange(const comm::Communicator& comm, const LocalMesh& mesh, const View& values,
                                   SharedNodes shared_nodes, const std::string& label,
                                   const typename View::execution_space& instance = {}) {
  using Rows = Kokkos::View<const LocalIndex*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  comm::Exchange<View> exchange(comm, label, instance);
  for (const auto& [rank, sent, received] : mesh.neighbours) {
    if (!sent.empty()) exchange.add_send(values, Rows(sent.data(), sent.size()), rank);
    if (received.empty()) continue;
    if (shared_nodes == SharedNodes::sum) // in place of the sender's row
      exchange.add_receive(values, Rows(received.data(), received.size()), rank, comm::ReceiveOp::add);
    else // ghosts of a rank follow each other
      exchange.add_receive(values, std::pair(received.front(), received.back() + 1), rank);
  }
  exchange.commit();
  exchange.measure_times();
  return exchange;
}

/// How much of a mesh the ranks have.
struct PartSizes {
  static constexpr std::array names{"elements", "nodes", "shared_nodes", "neighbours", "ghost_elements"};
  std::array<double, names.size()> least, most, sum; ///< of the ranks
};

/// Collective.
PartSizes part_sizes(const comm::Communicator&, const LocalMesh&);

} // namespace kontor::mesh
