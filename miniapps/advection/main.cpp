// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/advection.hpp"
#include "run/start/run_main.hpp"

int main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<advection::Options>(
      "advection", "Upwind advection around a ring of cells, with probes gathered by index", advection::make_advection);
  app.huge_pages = true; // of fields
  app.restart_may_change = {"solver.steps", "solver.steps_per_pass", "solver.launch"};
  return miniapp::run_main(argc, argv, app);
}
