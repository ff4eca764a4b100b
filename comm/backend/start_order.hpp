// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/node.hpp"

#include <optional>
#include <string>

namespace kontor::comm::mpi {

/// The steps that the ranks of a host have started, for backends that match steps by order alone. Each rank notes the
/// numbers of its step and of the plan in shared memory, and looks at its neighbours' notes of that step: a store and
/// two loads. The later of two that differ notices, unless the other is many steps ahead.
class StartOrder : device::NonCopyable {
 public:
  /// Collective. Without room for shared memory nothing is noted.
  explicit StartOrder(const BackendContext&);

  /// Local, in the same order on all ranks. The number of a plan of the exchange.
  std::uint32_t enroll(std::string label);
  /// Local. A step of the plan starts. Throws Error if a neighbour has started another plan's in its place. What is
  /// captured is repeated unseen: from then on this rank notes nothing.
  void start(std::uint32_t plan, bool captured = false);

 private:
  Node node_;
  std::optional<Window> window_;
  std::vector<std::string> labels_;
  std::vector<std::pair<int, std::uint64_t*>> notes_; ///< this rank's first; empty: none is made
  std::uint64_t step_ = 0;
};

} // namespace kontor::comm::mpi
