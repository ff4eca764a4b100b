// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/make_heat.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<heat::Options>(
      "heat", "Heat conduction on a grid of cells: halo exchange",
      [](const heat::Options& options, const miniapp::RunContext& context) {
        return miniapp::with_scalar(options.precision, [&](auto zero) -> std::unique_ptr<miniapp::MiniApp> {
          return heat::make_heat<decltype(zero)>(options, context);
        });
      });
  app.huge_pages = true; // of fields
  app.restart_may_change = {
      "solver.tolerance",      "solver.max_sweeps", "solver.kernel", "solver.stores", "solver.launch",
      "solver.steps_per_pass", "decomposition.",    "warm_up.",      "verification.", "time."}; // if the step stays
  return miniapp::run_main(argc, argv, app);
}
