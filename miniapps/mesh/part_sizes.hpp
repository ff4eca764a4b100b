// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"

#include <kontor/comm/reductions.hpp>

#include <algorithm>
#include <array>

namespace kontor::mesh {

/// How much of a mesh the ranks have.
struct PartSizes {
  static constexpr std::array names{"elements", "nodes", "shared_nodes", "neighbours", "ghost_elements"};
  std::array<double, names.size()> least, most, sum; ///< of the ranks
};

/// Collective.
inline PartSizes part_sizes(const comm::Communicator& comm, const LocalMesh& mesh) {
  const auto own = static_cast<double>(std::ranges::count(mesh.own, true));
  const std::array mine{own, static_cast<double>(mesh.nodes()),
                        static_cast<double>(mesh.seam + mesh.nodes() - mesh.updated),
                        static_cast<double>(mesh.neighbours.size()), static_cast<double>(mesh.elements()) - own};
  return {comm::allreduce(comm, mine, comm::ReduceOp::min), comm::allreduce(comm, mine, comm::ReduceOp::max),
          comm::allreduce(comm, mine, comm::ReduceOp::sum)};
}

} // namespace kontor::mesh
