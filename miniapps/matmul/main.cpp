// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/matmul.hpp"
#include "run/start/run_main.hpp"

#include <memory>

int main(int argc, char** argv) {
  using namespace kontor;
  return miniapp::run_main<matmul::Options>(
      argc, argv, "matmul", "Products of dense matrices: blocks that travel around rings",
      [](const matmul::Options& options, const miniapp::RunContext& context) {
        return miniapp::with_scalar(options.precision, [&](auto zero) -> std::unique_ptr<miniapp::MiniApp> {
          return std::make_unique<matmul::Matmul<decltype(zero)>>(options, context);
        });
      });
}
