// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/advection.hpp"
#include "run/start/run_main.hpp"

#include <memory>

int main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<advection::Options>(
      "advection", "Upwind advection around a ring of cells, with probes gathered by index",
      [](const auto& options, const auto& context) {
        return std::make_unique<advection::Advection>(options, context);
      });
  app.restart_may_change = advection::Options::restart_may_change();
  return miniapp::run_main(argc, argv, app);
}
