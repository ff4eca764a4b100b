// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#ifdef KONTOR_SMPI
#include <mpi.h>
#else
#include <chrono>
#endif

namespace kontor::device {

/// Seconds since some moment of the past: the one clock of all times that Kontor measures, and of all waits that end.
/// Never goes back. With KONTOR_SMPI (a CMake option) it is MPI_Wtime, the simulator's time.
inline double seconds() {
#ifdef KONTOR_SMPI
  return MPI_Wtime();
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

} // namespace kontor::device
