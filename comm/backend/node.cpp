// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/node.hpp"

#include "base/ranks.hpp"

#include <algorithm>
#include <cstring>

namespace kontor::comm::mpi {

namespace {

/// Where parts of a window begin: at a cache line, which MPI does not promise.
constexpr std::size_t window_alignment = 64;

} // namespace

Node::Node(const BackendContext& context)
    : comm_(split_by_node(context.comm)), unsafe_to_free_(context.unsafe_to_free) {
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  nodes_ = rank_of(comm_) == 0 ? 1 : 0; // each node counts its first rank
  check(MPI_Allreduce(MPI_IN_PLACE, &nodes_, 1, MPI_INT, MPI_SUM, context.comm), "MPI_Allreduce");

  members_.resize(static_cast<std::size_t>(size_of(comm_)));
  const int mine = rank_of(context.comm);
  check(MPI_Allgather(&mine, 1, MPI_INT, members_.data(), 1, MPI_INT, comm_), "MPI_Allgather");
}

/// MPI numbers the ranks of the node in the order that they have outside, as it was asked to.
int Node::local(int rank) const {
  const auto found = std::ranges::lower_bound(members_, rank);
  return found != members_.end() && *found == rank ? static_cast<int>(found - members_.begin()) : MPI_UNDEFINED;
}

Node::~Node() {
  if (!ends_alone(*unsafe_to_free_)) check_or_terminate(MPI_Comm_free(&comm_), "MPI_Comm_free");
}

Window::Window(const Node& node, std::size_t bytes) : unsafe_to_free_(node.unsafe_to_free()) {
  std::byte* mine = nullptr;
  bytes += window_alignment;
  check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node.comm(), &mine, &window_),
        "MPI_Win_allocate_shared");
  check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  std::memset(mine, 0, bytes);
  check(MPI_Win_sync(window_), "MPI_Win_sync");
  check(MPI_Barrier(node.comm()), "MPI_Barrier");
}

Window::~Window() {
  if (ends_alone(*unsafe_to_free_)) return;
  check_or_terminate(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
  check_or_terminate(MPI_Win_free(&window_), "MPI_Win_free");
}

std::byte* Window::part(int local_rank) const {
  MPI_Aint bytes = 0;
  int unit = 0;
  std::byte* base = nullptr;
  check(MPI_Win_shared_query(window_, local_rank, &bytes, &unit, &base), "MPI_Win_shared_query");
  const auto past_line = reinterpret_cast<std::uintptr_t>(base) % window_alignment; // on every rank: pages are mapped
  return base + (window_alignment - past_line) % window_alignment;
}

} // namespace kontor::comm::mpi
