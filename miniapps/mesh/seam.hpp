// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"

#include <kontor/comm/exchange.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <utility>

namespace kontor::mesh {

/// Collective; committed. What neighbours exchange of a View of nodes: Seam::recompute: ghosts = their owners' values;
/// Seam::sum: sums at common nodes.
template <class View>
comm::Exchange<View> make_seam(const comm::Communicator& comm, const LocalMesh& mesh, const View& values, Seam seam,
                               const std::string& label, const typename View::execution_space& instance = {}) {
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

} // namespace kontor::mesh
