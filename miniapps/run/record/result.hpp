// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/sums/accumulator.hpp> // does not compile where std::isfinite() is always true

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kontor::miniapp {

/// What a run is judged by. `attainable` is what the machine could do at best, in the same unit; NaN if there is no
/// such figure.
struct FigureOfMerit {
  /// What measurements allow: a fraction above it is an error of the calibration or of the measurement.
  static constexpr double largest_fraction = 1.2;

  std::string name;
  double value = 0;
  std::string unit;
  double attainable = std::numeric_limits<double>::quiet_NaN();
  BytesMoved moved = {}; ///< in a repeat, by all ranks; 0: memory does not limit the figure
  double reuse = 1;      ///< how often what is moved once may be used: by as much a fraction may exceed 1

  double fraction() const { return value / attainable; }
  /// Whether there is a fraction that can be shown.
  bool has_fraction() const { return std::isfinite(attainable) && fraction() <= largest_fraction * reuse; }
  /// Why there is none, although the machine was measured; else empty.
  std::string remark() const;
};

/// Local. A figure of a repeat that took so many seconds and moved so many bytes, all ranks together. Attainable is
/// what the same repeat reaches in the seconds that the calibration gives for these bytes.
FigureOfMerit limited_by_memory(FigureOfMerit, double seconds, const BytesMoved&, const Calibration&);

/// Local. "cell_updates" and "effective_bandwidth" of a repeat of so many seconds and updates of cells, whose values of
/// `size` bytes are each read and written once for that bandwidth. `moved`: what kernels move.
std::vector<FigureOfMerit> figures_of_cells(double updates, std::size_t size, double seconds, const BytesMoved& moved,
                                            const Calibration&);

/// The answer set beside what it must be.
struct Verification {
  std::string measure; ///< what `error` is, in words
  double error = 0;
  double tolerance = 0;
  bool off = false;        ///< nothing could be verified: the backend moves no data
  bool conclusive = true;  ///< false: nothing was computed, or a wrong answer would pass, too
  std::string remark = {}; ///< what else to know, in words; of a run that is not conclusive, why
  std::vector<std::pair<std::string, double>> more = {}; ///< other numbers, by their names in the record
  std::uint64_t seed = 0;                                ///< of random places
  std::vector<std::string> judged = {}; ///< what was looked at, in words: "all rows", "file read back at 75 places"

  /// What is not finite does not pass, whatever the tolerance.
  bool passed() const {
    return !off && conclusive && std::isfinite(error) && std::isfinite(tolerance) && error <= tolerance;
  }
  bool failed() const { return !off && !passed(); }
};

/// The verdict on a run that did no work, or whose answer could be wrong and would pass all the same: it is not
/// verified, gives no figure of merit, and ends with exit code 1, as one that failed.
inline Verification inconclusive(std::string why) {
  return {.measure = "nothing", .conclusive = false, .remark = std::move(why)};
}

/// Collective if `check` is. Another check, after one that has passed: the first that does not pass is the verdict.
/// What was judged is listed of all.
template <class Other>
void also(Verification& result, const Other& check) {
  if (!result.passed()) return;
  Verification other = check();
  for (const auto& what : other.judged)
    if (std::ranges::find(result.judged, what) == result.judged.end()) result.judged.push_back(what);
  if (other.passed()) return;
  other.judged = std::move(result.judged);
  result = std::move(other);
}

/// An error of this rank, and how large it may be.
struct Check {
  std::string name;
  double error = 0, bound = 0;
};

/// The larger one; infinite if a value is not finite.
inline double worst(double most, double value) { return std::isfinite(value) ? std::max(most, value) : INFINITY; }

/// Collective. The largest of all errors on all ranks, each relative to its bound.
Verification judge(const comm::Communicator&, const std::vector<Check>&);

} // namespace kontor::miniapp
