// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

/// Waits that end: what turns a lost message into an error at check level `cross_rank`.
namespace kontor::comm::mpi {

/// Local. Waits until the operation is complete, but at most so many seconds (0: any time);
/// whether it is complete. An
/// operation that is not goes on, and stays the caller's. Throws Error if MPI reports one. MPI_Test.
bool wait_at_most(MPI_Request&, double seconds, MPI_Status* = MPI_STATUS_IGNORE);

/// The same for destructors: errors are passed over.
void wait_until_timeout(MPI_Request&, double seconds) noexcept;

} // namespace kontor::comm::mpi
