// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>
#include <kontor/device/clock.hpp>

#include <cstdint>

namespace kontor::comm {

/// Where an exchange spends its time, in host seconds. On an asynchronous device `pack` includes the wait for the work
/// before it, and `unpack` is the launch only.
struct PhaseTimes {
  double pack = 0;            ///< copying into contiguous memory
  double post = 0;            ///< handing messages over
  double wait = 0;            ///< for messages to arrive
  double unpack = 0;          ///< copying out of contiguous memory
  std::int64_t exchanges = 0; ///< how many are summed up here

  /// All phases together.
  double total() const { return pack + post + wait + unpack; }

  /// Those of other exchanges as well.
  PhaseTimes& operator+=(const PhaseTimes& other) {
    pack += other.pack;
    post += other.post;
    wait += other.wait;
    unpack += other.unpack;
    exchanges += other.exchanges;
    return *this;
  }
};

/// Adds the time since the last lap to a sum.
class Stopwatch {
 public:
  /// Adds the seconds since the last call, or since construction, to `sum`.
  void lap(double& sum) {
    const double now = device::seconds();
    sum += now - last_;
    last_ = now;
  }

 private:
  double last_ = device::seconds();
};

/// Adds the time since the last lap to a phase; reads no clock where nobody wants to know.
class PhaseClock {
 public:
  /// `times` may be null: then nothing is measured.
  explicit PhaseClock(PhaseTimes* times) : times_(times) {
    if (times_) last_ = device::seconds();
  }
  /// Adds the seconds since the last call, or since construction, to that phase.
  void lap(double PhaseTimes::*phase) {
    if (!times_) return;
    const double now = device::seconds();
    times_->*phase += now - last_;
    last_ = now;
  }

 private:
  PhaseTimes* times_;
  double last_ = 0;
};

/// A method of exchanging Views that has been tried.
struct TimedMethod {
  Options options;    ///< with nothing left to `auto`
  double seconds = 0; ///< the median time of one exchange, on the slowest rank
};

} // namespace kontor::comm
