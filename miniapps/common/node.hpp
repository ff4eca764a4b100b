// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

namespace kontor::miniapp {

/// A rank among those of its node, in the order of their ranks.
struct PlaceOnNode {
  int rank = 0;
  int ranks = 1;
};

/// Collective. Ranks that can share memory are on one node.
PlaceOnNode place_on_node(MPI_Comm);

} // namespace kontor::miniapp
