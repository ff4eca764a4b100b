// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"

#include <kontor/device/noncopyable.hpp>

#include <memory>
#include <vector>

namespace kontor::comm::shm {

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

} // namespace kontor::comm::shm
