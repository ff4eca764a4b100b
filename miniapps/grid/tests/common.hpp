// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"
#include "grid/process_grid.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"

#include <gtest/gtest.h>

namespace kontor::grid::test {

using namespace miniapp::test;

/// All ranks over a box, cut where it costs least.
inline comm::Communicator cartesian_for(const std::vector<std::int64_t>& extents, const std::vector<bool>& periodic,
                                        int least = 1) {
  const auto grid = smallest_surface_grid(world().size(), extents, least);
  return make_cartesian(world(), {grid.begin(), grid.end()}, periodic);
}

} // namespace kontor::grid::test
