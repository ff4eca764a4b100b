// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/problem/blocks.hpp"
#include "graph/problem/edges.hpp"

#include <Kokkos_Core.hpp>

namespace kontor::graph {

/// The neighbours of a rank's vertices, ascending and each once, without the vertex itself.
struct Rows {
  Blocks blocks;
  int rank;
  std::int64_t begin;                                     ///< the first vertex of this rank
  std::int64_t size;                                      ///< vertices of this rank
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> offsets; ///< where the neighbours of each begin: size + 1
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> targets; ///< all of them

  std::int64_t degree(std::int64_t own) const { return offsets(own + 1) - offsets(own); }
  std::int64_t arcs() const { return offsets(size); }
};

/// Collective. Sends each edge to the owners of both ends, in batches.
Rows build_rows(const comm::Communicator&, const Edges&);

/// Local. The other ranks that own neighbours.
std::vector<int> neighbour_ranks(const Rows&);

} // namespace kontor::graph
