// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/matmul.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<matmul::Options>(
      "matmul", "Products of dense matrices: blocks that move around rings",
      [](const matmul::Options& options, const miniapp::RunContext& context) {
        return miniapp::with_scalar(options.precision, [&](auto zero) -> std::unique_ptr<miniapp::MiniApp> {
          return std::make_unique<matmul::Matmul<decltype(zero)>>(options, context);
        });
      });
  app.restart_may_change = matmul::Options::restart_may_change();
  return miniapp::run_main(argc, argv, app);
}
