// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>
#include <kontor/mpi/agree.hpp>

#include <mpi.h>

#include <string>
#include <utility>

namespace kontor::miniapp {

/// Collective; Kokkos need not be initialised, as Views want it to be. Rank 0's text. Throws comm::Error if MPI reports
/// one.
inline std::string broadcast(MPI_Comm comm, std::string text) {
  return mpi::broadcast<comm::Error>(comm, std::move(text));
}

} // namespace kontor::miniapp
