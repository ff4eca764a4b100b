// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  const auto app = miniapp::app_of<pingpong::Options>(
      "pingpong", "Times of messages, halos and collective operations: raw MPI, typed Views, every backend",
      pingpong::make_pingpong);
  return miniapp::run_main(argc, argv, app);
}
