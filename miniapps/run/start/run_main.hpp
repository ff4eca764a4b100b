// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/app.hpp"

namespace kontor::miniapp {

/// A run of a mini-app: starts MPI and Kokkos, reads the command line, makes the run (run.hpp) and ends both. Returns
/// the exit code (guard.hpp), on every rank.
int run_main(int argc, char** argv, const App& app);

} // namespace kontor::miniapp

/// In an app's main.cpp: calls run_main(). Returns the exit code.
int app_main(int argc, char** argv);
