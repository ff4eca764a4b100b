// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/pingpong.hpp"
#include "run/start/run_main.hpp"

#include <memory>

int main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<pingpong::Options>(
      "pingpong", "Times of messages, halos and collective operations: raw MPI, typed Views, every backend",
      [](const auto& options, const auto& context) {
        return std::make_unique<pingpong::PingPong>(options, context);
      });
  return miniapp::run_main(argc, argv, app);
}
