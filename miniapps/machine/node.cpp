// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/node.hpp"

#include "machine/gather_to_root.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <set>

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

std::vector<std::string> host_names(const comm::Communicator& comm) {
  const bool first_of_node = place_on_node(comm.native()).rank == 0;
  std::set<std::string> names;
  for (auto& name : gather_texts(comm, first_of_node ? host_name() : std::string()))
    if (!name.empty()) names.insert(std::move(name));
  return {names.begin(), names.end()};
}

} // namespace kontor::miniapp
