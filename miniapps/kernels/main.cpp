// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  const auto app = miniapp::app_of<kernels::Options>(
      "kernels", "Rates of the kernels that papers on Kokkos measured: gradients, sums, scatters, loops, products",
      kernels::make_kernels);
  return miniapp::run_main(argc, argv, app);
}
