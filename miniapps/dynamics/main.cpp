// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/dynamics.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<dynamics::Options>(
      "dynamics", "Waves in an elastic body: work on elements, sums at nodes, one minimum of all ranks",
      dynamics::make_dynamics);
  app.restart_may_change = {"time.steps", "solver.launch", "decomposition."};
  return miniapp::run_main(argc, argv, app);
}
