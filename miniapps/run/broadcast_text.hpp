// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>

namespace kontor::miniapp {

/// Collective; Kokkos need not be initialised. Rank 0's text.
std::string broadcast(MPI_Comm, std::string text);

} // namespace kontor::miniapp
