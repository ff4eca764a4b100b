// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace kontor::partition {

/// A point that goes to one part. No two have the same number.
struct NumberedPoint {
  std::array<double, 3> at;
  std::int64_t number;
};

/// Collective. The part of each point by recursive coordinate bisection (M. J. Berger, S. H. Bokhari, IEEE Trans.
/// Comput. 36, 1987): points are cut along the longest side of the box around them, so that parts have equally many to
/// one. Points stay on their ranks; the result depends on neither their order nor the ranks. Coordinates are finite.
std::vector<int> bisect(const comm::Communicator&, const std::vector<NumberedPoint>&, int parts);

} // namespace kontor::partition
