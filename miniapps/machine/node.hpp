// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <mpi.h>

#include <string>

/// Which ranks are on one node: those that can share memory.
namespace kontor::miniapp {

/// A rank among those of its node, in the order of their ranks.
struct PlaceOnNode {
  int rank = 0;
  int ranks = 1;
};

/// Collective; Kokkos need not be initialised.
PlaceOnNode place_on_node(MPI_Comm);

/// Collective. The ranks of this one's node, in their order, with backend `raw`.
comm::Communicator node_communicator(const comm::Communicator&);

/// Local. What MPI calls the node of this rank.
std::string host_name();

} // namespace kontor::miniapp
