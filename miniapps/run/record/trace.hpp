// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/timers.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::miniapp {

/// The intervals of a rank's regions in the first steps of a repeat. Room for them is allocated at once: for 64 a step,
/// and for a million on all ranks together. Intervals for which there is no room are dropped.
class Trace {
 public:
  /// Local. 0 steps: no trace.
  Trace(std::int64_t steps, int ranks);

  /// Local. Begins, after a barrier.
  void begin();
  void add(const Timer& timer, double begin, double end) {
    if (intervals_.size() < intervals_.capacity()) intervals_.push_back({&timer, begin, end});
  }
  /// Local. So many more steps are made. Whether they were the last ones.
  bool made(std::int64_t steps) { return (left_ -= steps) <= 0; }

  /// Collective; valid at rank 0, empty elsewhere and if there are none. The table /run/trace of all ranks. All have
  /// the same timers, to which the intervals belong.
  nlohmann::ordered_json over_ranks(const comm::Communicator&, const Timers&) const;

 private:
  struct Interval {
    const Timer* timer;
    double begin, end; ///< of device::seconds()
  };
  std::int64_t left_;
  double begin_ = 0;
  std::vector<Interval> intervals_;
};

} // namespace kontor::miniapp
