// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>
#include <kontor/mpi/agree.hpp>

#include <mpi.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace kontor::miniapp {

/// Local. Writes to stderr at once. If that cannot be done there is no place to say so, and no reason to stop.
inline void to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// Collective; Kokkos need not be initialised, as Views want it to be. Rank 0's text. Throws comm::Error if MPI reports
/// one.
inline std::string broadcast(MPI_Comm comm, std::string text) {
  return mpi::broadcast<comm::Error>(comm, std::move(text));
}

} // namespace kontor::miniapp
