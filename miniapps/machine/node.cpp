// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/node.hpp"

#include <kontor/comm/mpi_check.hpp>

namespace kontor::miniapp {
namespace {

using comm::mpi::check;

/// Collective. The ranks of this one's node; to be freed.
MPI_Comm split_by_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  return node;
}

} // namespace

PlaceOnNode place_on_node(MPI_Comm comm) {
  MPI_Comm node = split_by_node(comm);
  PlaceOnNode place;
  check(MPI_Comm_rank(node, &place.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(node, &place.ranks), "MPI_Comm_size");
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  return place;
}

comm::Communicator node_communicator(const comm::Communicator& comm) {
  MPI_Comm node = split_by_node(comm.native());
  comm::Communicator result(node); // has a duplicate of its own
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  return result;
}

std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  return {name, static_cast<std::size_t>(length)};
}

} // namespace kontor::miniapp
