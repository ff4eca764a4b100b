// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/agenda.hpp"
#include "heat/queues.hpp"

#include <array>
#include <optional>

namespace kontor::heat {

/// Several sweeps in a row that a device makes by one launch: recorded once from each of the two fields, and
/// replayed.
template <class ExecutionSpace>
class SweepGraph {
 public:
  /// Whether it has been recorded.
  explicit operator bool() const { return recordings_[0].has_value(); }

  /// Local. queue_sweep(from, norm) queues a sweep from that field, with its norm or without, and does
  /// nothing else. All it uses, and the queues, must stay where they are.
  template <class QueueSweep>
  void record(Queues<ExecutionSpace>& queues, const GraphShape& shape, const QueueSweep& queue_sweep) {
    for (const int first : {0, 1})
      recordings_[first] = queues.record([shape, queue_sweep, first] {
        for (int i = 0; i < shape.sweeps; ++i) queue_sweep((first + i) % 2, shape.norm(i + 1));
      });
  }
  void forget() { recordings_ = {}; }

  /// Local; waits for nothing. The sweeps from that field.
  void replay(Queues<ExecutionSpace>& queues, int from) const { queues.replay(*recordings_[from]); }

 private:
  std::array<std::optional<comm::CapturedGraph<ExecutionSpace>>, 2> recordings_;
};

} // namespace kontor::heat
