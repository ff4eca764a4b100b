// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/node.hpp"

#include <kontor/comm/backend/mpi_check.hpp>

namespace kontor::miniapp {

using comm::mpi::check;

PlaceOnNode place_on_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  PlaceOnNode place;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check(MPI_Comm_rank(node, &place.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(node, &place.ranks), "MPI_Comm_size");
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  return place;
}

} // namespace kontor::miniapp
