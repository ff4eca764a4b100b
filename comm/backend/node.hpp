// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"

#include <kontor/device/noncopyable.hpp>

namespace kontor::comm::mpi {

/// The ranks of a communicator that share memory with this one.
class Node : device::NonCopyable {
 public:
  /// Collective over the handle's communicator.
  explicit Node(const BackendContext&);
  /// Collective over the node, unless an exception is passing or a plan has failed.
  ~Node();

  MPI_Comm comm() const { return comm_; }
  /// The rank within the node; MPI_UNDEFINED if `rank` is on another one.
  int local(int rank) const;
  /// The rank in the communicator of one of the node's.
  int global(int local_rank) const { return members_[static_cast<std::size_t>(local_rank)]; }
  /// How many nodes the communicator spans.
  int nodes() const { return nodes_; }
  /// See BackendContext.
  const std::shared_ptr<bool>& unsafe_to_free() const { return unsafe_to_free_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::shared_ptr<bool> unsafe_to_free_;
  std::vector<int> members_; ///< the ranks of the node, rising
  int nodes_ = 0;
};

/// Memory of which each rank of a node has a part, and all can access. Zero at first; touched first by the part's rank.
class Window : device::NonCopyable {
 public:
  /// Collective over the node.
  Window(const Node&, std::size_t bytes_of_this_rank);
  /// Collective over the node, unless an exception is passing or a plan has failed.
  ~Window();

  /// The part of a rank, numbered within the node.
  std::byte* part(int local_rank) const;

 private:
  std::shared_ptr<bool> unsafe_to_free_;
  MPI_Win window_ = MPI_WIN_NULL;
};

} // namespace kontor::comm::mpi
