// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/streams.hpp"

#include <vector>

namespace kontor::stepping {

/// Several steps in a row that a device makes by one launch: captured once, and replayed.
template <class ExecutionSpace>
class StepGraph {
 public:
  /// Whether it has been captured.
  explicit operator bool() const { return !graphs_.empty(); }

  /// Local. queue_steps(start) queues the steps from each of so many states that they can start from, such as
  /// from either of two fields, and does nothing else. All it uses, and the streams, must stay where they
  /// are.
  template <class QueueSteps>
  void capture(Streams<ExecutionSpace>& streams, int starts, const QueueSteps& queue_steps) {
    graphs_.clear();
    for (int start = 0; start < starts; ++start)
      graphs_.push_back(streams.capture([queue_steps, start] { queue_steps(start); }));
  }
  void forget() { graphs_.clear(); }

  /// Local; waits for nothing. The steps from that state.
  void replay(Streams<ExecutionSpace>& streams, int start) const {
    streams.replay(graphs_[static_cast<std::size_t>(start)]);
  }

 private:
  std::vector<device::CapturedGraph<ExecutionSpace>> graphs_;
};

} // namespace kontor::stepping
