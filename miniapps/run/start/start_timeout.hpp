// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

/// Ranks that never find each other: MPI waits for ever for one that cannot be reached, or whose first messages are
/// lost, as Open MPI (4.1.4) loses some where it gets no shared memory.
namespace kontor::miniapp {

/// Local, before MPI_Init; asks for no memory. From now on the start may take as many seconds as the environment's
/// KONTOR_START_SECONDS says, 300 without it, any time if it is 0; then this process says so on stderr and ends, exit
/// code 3. Simulated ranks have no limit.
void limit_start() noexcept;

/// Local. What is wrong with KONTOR_START_SECONDS, which then counts as if it were not there; empty: nothing.
std::string problem_with_start_limit();

/// Local. MPI_Init has returned.
void mpi_has_started() noexcept;

/// Local. The ranks have heard of each other.
void end_start_limit() noexcept;

} // namespace kontor::miniapp
