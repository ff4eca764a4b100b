// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/guard.hpp"
#include "common/mini_app.hpp"

namespace kontor::miniapp {

/// main() of a mini-app: read deck, calibrate, make, warm up, measure, verify, record, report. Initialises
/// and finalises MPI and Kokkos. Returns the exit code (see guard.hpp) on every rank.
int live(int argc, char** argv, MiniAppFactory&);

} // namespace kontor::miniapp
