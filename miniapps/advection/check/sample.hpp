// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

namespace kontor::advection {

/// One of `every` of so many things, the first among them, so that at most `most` are looked at.
struct Sample {
  std::int64_t all, every;

  Sample(std::int64_t n, std::int64_t most) : all(n), every(std::max<std::int64_t>(1, (n + most - 1) / most)) {}

  std::int64_t count() const { return (all + every - 1) / every; }
  std::int64_t at(std::int64_t i) const { return i * every; }
};

/// The values of a rank's probes that are compared: some of the gatherings, and of each of them some probes.
struct ProbeSample {
  static constexpr std::int64_t most = 10000;
  Sample gatherings, probes;

  ProbeSample(std::int64_t all, std::int64_t of_each)
      : gatherings(all, std::max<std::int64_t>(100, most / std::max<std::int64_t>(1, of_each))),
        probes(of_each, most / std::max<std::int64_t>(1, gatherings.count())) {}
};

/// Own cells that are compared, in pieces; so many that the products of values and weights are 2^30 at most.
inline constexpr std::int64_t cells_of_piece = 4096;
inline Sample sample_of_pieces(std::int64_t cells, std::int64_t weights) {
  const auto most = (std::int64_t{1} << 30) / cells_of_piece / weights;
  return {(cells + cells_of_piece - 1) / cells_of_piece, std::max<std::int64_t>(2, most)};
}

} // namespace kontor::advection
