// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/cg.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<cg::Options>(
      "cg", "Sparse linear systems by conjugate gradients: ghosts by index, and sums",
      [](const auto& options, const auto& context) { return std::make_unique<cg::Cg>(options, context); });
  app.restart_may_change = cg::Options::restart_may_change();
  app.huge_pages = true; // of matrix and vectors
  return miniapp::run_main(argc, argv, app);
}
