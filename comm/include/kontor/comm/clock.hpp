// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#ifdef KONTOR_MPI_CLOCK
#include <mpi.h>
#else
#include <chrono>
#endif

namespace kontor::comm {

/// Seconds since some moment of the past: the one clock of all times that Kontor measures, and of all waits
/// that end. Never goes back. With KONTOR_MPI_CLOCK (a CMake option) it is MPI_Wtime, for simulators that
/// have a time of their own.
inline double seconds() {
#ifdef KONTOR_MPI_CLOCK
  return MPI_Wtime();
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

} // namespace kontor::comm
