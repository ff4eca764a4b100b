// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/cg.hpp"
#include "run/start/run_main.hpp"

#include <memory>

int main(int argc, char** argv) {
  using namespace kontor;
  return miniapp::run_main<cg::Options>(
      argc, argv, "cg", "Sparse linear systems by conjugate gradients: ghosts by index, and sums",
      [](const auto& options, const auto& context) { return std::make_unique<cg::Cg>(options, context); });
}
