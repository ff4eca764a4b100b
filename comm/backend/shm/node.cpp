// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/shm/node.hpp"

#include "backend/ranks.hpp"

#include <algorithm>

namespace kontor::comm::shm {

using mpi::check;

namespace {

MPI_Comm shared_memory_ranks(const BackendContext& context) {
  auto node = mpi::split_by_node(context.comm);
  const int group_size = context.options.ranks_per_node;
  if (group_size == 0) return node;
  MPI_Comm group = MPI_COMM_NULL;
  check(MPI_Comm_split(node, mpi::rank_of(context.comm) / group_size, 0, &group), "MPI_Comm_split");
  MPI_Comm_free(&node);
  return group;
}

} // namespace

Node::Node(const BackendContext& context)
    : comm_(shared_memory_ranks(context)), unsafe_to_free_(context.unsafe_to_free) {
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  nodes_ = mpi::rank_of(comm_) == 0 ? 1 : 0; // each node counts its first rank
  check(MPI_Allreduce(MPI_IN_PLACE, &nodes_, 1, MPI_INT, MPI_SUM, context.comm), "MPI_Allreduce");

  members_.resize(static_cast<std::size_t>(mpi::size_of(comm_)));
  const int mine = mpi::rank_of(context.comm);
  check(MPI_Allgather(&mine, 1, MPI_INT, members_.data(), 1, MPI_INT, comm_), "MPI_Allgather");
}

/// MPI numbers the ranks of the node in the order that they have outside, as it was asked to.
int Node::local(int rank) const {
  const auto found = std::ranges::lower_bound(members_, rank);
  return found != members_.end() && *found == rank ? static_cast<int>(found - members_.begin())
                                                   : MPI_UNDEFINED;
}

Node::~Node() {
  if (!mpi::ends_alone(*unsafe_to_free_)) MPI_Comm_free(&comm_);
}

} // namespace kontor::comm::shm
