// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/shm/node.hpp"

#include <kontor/device/noncopyable.hpp>

#include <cstddef>

namespace kontor::comm::shm {

/// Memory that each rank of a node has a part of and all can read and write. Zero at the beginning, and
/// touched first by the rank whose part it is.
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

} // namespace kontor::comm::shm
