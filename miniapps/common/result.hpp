// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace kontor::miniapp {

/// What a run is judged by. `attainable` is what the machine could do at best, in the same unit; NaN if
/// there is no such figure.
struct FigureOfMerit {
  std::string name;
  double value = 0;
  std::string unit;
  double attainable = std::numeric_limits<double>::quiet_NaN();

  double fraction() const { return value / attainable; }
};

/// The answer set beside what it must be.
struct Verification {
  std::string measure; ///< what `error` is, in words
  double error = 0;
  double tolerance = 0;
  bool off = false;        ///< nothing could be verified: the backend moves no data
  bool conclusive = true;  ///< false: the tolerance is so wide that a wrong answer would pass, too
  std::string remark = {}; ///< what else to know, in words; of a run that is not conclusive, why

  /// What is not finite does not pass, whatever the tolerance.
  bool passed() const {
    return !off && conclusive && std::isfinite(error) && std::isfinite(tolerance) && error <= tolerance;
  }
  bool failed() const { return !off && !passed(); }
};

/// What this machine does, measured in the same job on the same ranks.
struct Calibration {
  double triad_bandwidth = 0; ///< bytes/s, all ranks together
  double copy_bandwidth = 0;  ///< bytes/s read and written, all devices together; 0 on the host
  double latency = 0;         ///< s, half a round trip of one element; 0 on one rank
  double bandwidth = 0;       ///< bytes/s one way between two ranks; 0 on one rank

  double working_set = 0;           ///< bytes of the rank that has most; 0: the app has told none
  double working_set_bandwidth = 0; ///< bytes/s within it, all ranks together; 0 where memory's applies

  /// What streaming through the working set can reach: bytes/s, all ranks together.
  double attainable_bandwidth() const {
    return working_set_bandwidth > 0 ? working_set_bandwidth : std::max(triad_bandwidth, copy_bandwidth);
  }
};

} // namespace kontor::miniapp
