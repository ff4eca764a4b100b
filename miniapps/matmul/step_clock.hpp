// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/matrix.hpp"
#include "run/app_record.hpp"

#include <kontor/comm/kokkos/streams.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kontor::matmul {

/// When a rank multiplied and communicated in each step, by the clock of the host or the events of a device.
/// A step allocates nothing, but for events in the first run.
class StepClock {
 public:
  StepClock(int rank, std::size_t steps) : rank_(rank), steps_(steps) {}

  /// Local. All that follows is told from here on.
  void start(const Space& instance) {
    start_.record(instance);
    for (auto& step : steps_) step.computed = step.transferred = false;
  }
  void compute_begins(std::size_t step, const Space& instance) {
    steps_[step].compute_begin.record(instance);
  }
  void compute_ends(std::size_t step, const Space& instance) {
    steps_[step].compute_end.record(instance);
    steps_[step].computed = true;
  }
  void transfer_begins(std::size_t step, const Space& instance) {
    steps_[step].transfer_begin.record(instance);
  }
  void transfer_ends(std::size_t step, const Space& instance) {
    steps_[step].transfer_end.record(instance);
    steps_[step].transferred = true;
  }

  /// Local. When all that was recorded is complete.
  std::vector<miniapp::StepTimes> times() const {
    std::vector<miniapp::StepTimes> table;
    for (const auto& s : steps_) {
      miniapp::StepTimes row{.rank = rank_, .step = static_cast<std::int64_t>(table.size())};
      if (s.computed) {
        row.compute_begin = s.compute_begin.seconds_since(start_);
        row.compute_end = s.compute_end.seconds_since(start_);
      }
      if (s.transferred) {
        row.transfer_begin = s.transfer_begin.seconds_since(start_);
        row.transfer_end = s.transfer_end.seconds_since(start_);
      }
      table.push_back(row);
    }
    return table;
  }

 private:
  using Event = comm::TimedEvent<Space>;
  struct Step {
    Event compute_begin, compute_end, transfer_begin, transfer_end;
    bool computed = false;
    bool transferred = false;
  };

  int rank_;
  Event start_;
  std::vector<Step> steps_;
};

} // namespace kontor::matmul
