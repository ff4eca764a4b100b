// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/mini_app.hpp"

namespace kontor::miniapp {

/// Exit codes of every mini-app.
enum ExitCode : int {
  exit_verified = 0,
  exit_verification_failed = 1,
  exit_user_error = 2, ///< bad deck or usage
  exit_failed = 3      ///< failed at run time: MPI, I/O, memory
};

/// main() of a mini-app: read deck, calibrate, make, warm up, measure, verify, record, report. Initialises
/// and finalises MPI and Kokkos. Returns the exit code on every rank; an error that only one rank sees ends
/// the whole run by MPI_Abort.
int live(int argc, char** argv, MiniAppFactory&);

} // namespace kontor::miniapp
