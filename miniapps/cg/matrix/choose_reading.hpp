// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"

#include <kontor/comm/communicator.hpp>

#include <utility>
#include <vector>

namespace kontor::cg {

/// Ways to read a matrix that were tried, and the seconds of a product each.
using ReadingTrial = std::vector<std::pair<Reading, double>>;

/// Collective; waits. Products with this matrix of format sell on a host read as a trial finds best, unless they are in
/// cache. x, of own values and ghosts, and y are of no use afterwards. Returns what was tried.
ReadingTrial choose_reading(const comm::Communicator&, const Matrix&, const Vector& x, const Vector& y);

} // namespace kontor::cg
