// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/measures.hpp"

#include <algorithm>
#include <cmath>

namespace kontor::pingpong {

bool works_on_device(Measure measure) {
  return measure == Measure::halo || measure == Measure::exchange;
}

double bytes_of_views(Measure measure, int ranks, int dimensions, ScalarName scalar, std::int64_t size) {
  const auto edge = static_cast<double>(size);
  const auto cube = std::pow(edge, dimensions) * static_cast<double>(bytes_of(scalar));
  switch (measure) {
  case Measure::roundtrip:
  case Measure::calls:
  case Measure::model: return 2 * cube;
  case Measure::bcast: return cube;
  case Measure::collectives: return 2 * cube * ranks;
  case Measure::halo: return std::pow((edge + 2) / edge, dimensions) * cube;
  case Measure::strided: return cube;
  case Measure::exchange: { // out and in, and what a handful of ways pack them into
    const auto column = edge * static_cast<double>(bytes_of(scalar));
    return 2 * column * (dimensions == 1 ? 4 : 4 + width_of_plane);
  }
  }
  return cube;
}

} // namespace kontor::pingpong
