// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shm/node.hpp"

#include <kontor/comm/backend/mpi_check.hpp>

#include <numeric>

namespace kontor::comm::shm {

using mpi::check;

namespace {

MPI_Comm shared_memory_ranks(const BackendContext& context) {
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(context.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  const int group_size = context.options.ranks_per_node;
  if (group_size == 0) return node;
  int rank = 0;
  check(MPI_Comm_rank(context.comm, &rank), "MPI_Comm_rank");
  MPI_Comm group = MPI_COMM_NULL;
  check(MPI_Comm_split(node, rank / group_size, 0, &group), "MPI_Comm_split");
  MPI_Comm_free(&node);
  return group;
}

} // namespace

Node::Node(const BackendContext& context)
    : comm_(shared_memory_ranks(context)), unsafe_to_free_(context.unsafe_to_free) {
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int size = 0;
  int first_of_node = 0;
  check(MPI_Comm_size(context.comm, &size), "MPI_Comm_size");
  check(MPI_Comm_rank(comm_, &first_of_node), "MPI_Comm_rank");
  nodes_ = first_of_node == 0 ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &nodes_, 1, MPI_INT, MPI_SUM, context.comm), "MPI_Allreduce");

  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group mine = MPI_GROUP_NULL;
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  local_.resize(size);
  check(MPI_Comm_group(context.comm, &all), "MPI_Comm_group");
  check(MPI_Comm_group(comm_, &mine), "MPI_Comm_group");
  check(MPI_Group_translate_ranks(all, size, ranks.data(), mine, local_.data()), "MPI_Group_translate_ranks");
  MPI_Group_free(&all);
  MPI_Group_free(&mine);
}

Node::~Node() {
  if (!mpi::ends_alone(*unsafe_to_free_)) MPI_Comm_free(&comm_);
}

} // namespace kontor::comm::shm
