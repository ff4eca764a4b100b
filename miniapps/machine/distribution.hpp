// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace kontor::miniapp {

/// Samples above 0, such as durations, in a logarithmic histogram of fixed size: adding one costs a few nanoseconds and
/// allocates nothing. Samples below 1e-9 or above 1000 count in the outermost bins.
class Distribution {
 public:
  /// Local. A sample that is not above 0 does not count.
  void add(double sample) {
    if (!(sample > 0)) return;
    // Bits of positive numbers are in the order of the numbers; the upper ones are exponent and first digits.
    const auto bin = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(sample) >> dropped_bits) - first_bin;
    ++counts_[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, bins - 1))];
    max_ = std::max(max_, sample);
  }
  void clear() { *this = {}; }

  /// Collective; valid at rank 0, null elsewhere. The samples of all ranks: count, p50, p95, p99, max and its
  /// slowest_rank. Quantiles but the maximum are middles of bins, at most 0.4 % off.
  nlohmann::ordered_json over_ranks(const comm::Communicator&) const;

 private:
  static constexpr int digits = 7; ///< of a mantissa: 128 bins between a number and its double
  static constexpr int dropped_bits = 52 - digits;
  static constexpr std::int64_t first_bin = std::int64_t{1023 - 30} << digits; ///< of 2^-30
  static constexpr std::int64_t bins = 40 << digits;                           ///< up to 2^10

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(bins);
  double max_ = 0;
};

/// Collective; valid at rank 0, null elsewhere. How much other work on the machine slows down a fixed quantum of
/// arithmetic: the object /run/noise. All ranks execute it 400 times at once, on one thread each: some 50 us each.
nlohmann::ordered_json measure_noise(const comm::Communicator&);

/// Collective; valid at rank 0, null elsewhere. The same from the seconds of this rank's quanta, at least one.
/// Quantiles are of the time of a sample relative to the fastest one of the same rank.
nlohmann::ordered_json noise_of(const comm::Communicator&, std::span<const double> seconds);

} // namespace kontor::miniapp
