// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/advection.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<advection::Options>(
      "advection", "Upwind advection on a periodic rectangle: the small app to copy from", advection::make_advection);
  app.huge_pages = true; // of fields
  app.restart_may_change = {"solver.", "decomposition."};
  return miniapp::run_main(argc, argv, app);
}
