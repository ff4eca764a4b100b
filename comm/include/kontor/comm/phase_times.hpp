// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>

namespace kontor::comm {

/// Where an exchange spends its time, in host seconds. On an asynchronous device `pack` includes the wait
/// for the work before it, and `unpack` is the launch only.
struct PhaseTimes {
  double pack = 0;
  double post = 0;
  double wait = 0;
  double unpack = 0;
  std::int64_t exchanges = 0;

  double total() const { return pack + post + wait + unpack; }
};

/// Adds the time since the last lap to a sum.
class Stopwatch {
 public:
  void lap(double& sum) {
    const auto now = Clock::now();
    sum += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

} // namespace kontor::comm
