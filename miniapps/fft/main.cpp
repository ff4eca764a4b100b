// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/fft.hpp"
#include "run/start/run_main.hpp"

int app_main(int argc, char** argv) {
  using namespace kontor;
  auto app = miniapp::app_of<fft::Options>("fft", "Fourier transforms of a periodic box, cut into pencils or slabs",
                                           fft::make_fft);
  app.huge_pages = true; // of fields
  app.restart_may_change = {"solver.steps", "solver.launch", "transpose.", "decomposition."};
  return miniapp::run_main(argc, argv, app);
}
