// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "app.hpp"

#include <kontor/comm/communicator.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

/// Problems of fe_heat that tests build and solve.
namespace kontor::cg::test {

/// T = 1 + 2 x - y + z / 2 with a linear conductivity, whose integrals the Gauss points have exactly.
Options linear_problem();
/// That of inputs/cg/heat-fe.yaml.
Options smooth_problem(std::int64_t elements);
/// miniFE's.
Options cube_problem(std::vector<std::int64_t> elements);

/// Of problems, whose process grid is chosen unless it is given.
class FeHeat : public testing::Test {
 protected:
  /// Collective over the ranks of `comm`.
  LinearSystem build(Options options, const comm::Communicator& comm);
  /// Collective over the world.
  miniapp::Verification solve(Options options);

  const comm::Communicator world_{MPI_COMM_WORLD};
  const comm::Communicator self_{MPI_COMM_SELF};
  miniapp::Timers timers_{"cg"};
  miniapp::Progress progress_{miniapp::Progress::Style::silent};
};

} // namespace kontor::cg::test
