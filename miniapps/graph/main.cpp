// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/graph.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  const auto app = miniapp::app_of<graph::Options>(
      "graph", "Traffic that changes at each step: breadth-first search, moving particles, a sort", graph::make_graph);
  return miniapp::run_main(argc, argv, app);
}
