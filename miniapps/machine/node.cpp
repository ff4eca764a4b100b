// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/node.hpp"

#include <kontor/comm/mpi_check.hpp>

namespace kontor::miniapp {

using comm::mpi::check;

comm::Communicator node_communicator(const comm::Communicator& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm.native(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
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
