// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>

namespace kontor::comm {

/// Where an exchange spends its time, in host seconds. On an asynchronous device `pack` includes the wait
/// for the work before it, and `unpack` is the launch only.
struct PhaseTimes {
  double pack = 0;            ///< copying into contiguous memory
  double post = 0;            ///< handing messages over
  double wait = 0;            ///< for messages to arrive
  double unpack = 0;          ///< copying out of contiguous memory
  std::int64_t exchanges = 0; ///< how many are summed up here

  /// All phases together.
  double total() const { return pack + post + wait + unpack; }
};

/// Adds the time since the last lap to a sum.
class Stopwatch {
 public:
  /// Adds the seconds since the last call, or since construction, to `sum`.
  void lap(double& sum) {
    const auto now = Clock::now();
    sum += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

/// Adds the time since the last lap to a phase; reads no clock where nobody wants to know.
class PhaseClock {
 public:
  /// `times` may be null: then nothing is measured.
  explicit PhaseClock(PhaseTimes* times) : times_(times) {
    if (times_) last_ = Clock::now();
  }
  /// Adds the seconds since the last call, or since construction, to that phase.
  void lap(double PhaseTimes::*phase) {
    if (!times_) return;
    const auto now = Clock::now();
    times_->*phase += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  PhaseTimes* times_;
  Clock::time_point last_{};
};

} // namespace kontor::comm
