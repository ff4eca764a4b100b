// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/heat.hpp"
#include "run/start/run_main.hpp"

#include <memory>

int main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<heat::Options>(
      "heat", "Heat conduction on a grid of cells: halo exchange",
      [](const heat::Options& options,
         const miniapp::RunContext& context) -> std::unique_ptr<miniapp::MiniApp> {
        if (options.precision == heat::Precision::single_precision)
          return std::make_unique<heat::Heat<float>>(options, context);
        return std::make_unique<heat::Heat<double>>(options, context);
      });
  app.restart_may_change = heat::Options::restart_may_change();
  return miniapp::run_main(argc, argv, app);
}
