// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>

#include <mpi.h>

#include <span>
#include <vector>

namespace kontor::comm::mpi {

/// Collective over the ranks of the transfers. Each receiver tells its senders where in its memory their
/// messages belong: `mine` has one place for each receive, and the result one for each send.
std::vector<MPI_Aint> trade_places(MPI_Comm, std::span<const Transfer> receives,
                                   std::span<const MPI_Aint> mine, std::span<const Transfer> sends);

} // namespace kontor::comm::mpi
