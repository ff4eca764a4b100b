// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kontor::comm {

/// From which threads MPI may be called.
enum class ThreadLevel {
  single,     ///< there is one thread
  funneled,   ///< the one that initialised MPI
  serialized, ///< any thread, one at a time
  multiple    ///< any threads at the same time
};

/// Local. What MPI grants; Kontor itself needs no more than `single`. Messages may be sent and received from
/// as many threads as MPI allows, by one communicator with a tag or a peer for each thread, as in MPI; plans
/// and collective operations by one thread at a time for each communicator. Kokkos sets limits as well: a
/// strided View is packed by a kernel, which is one thread's at a time, and where Kokkos is built without
/// threads it counts the references to a View for one thread only. MPI_Query_thread.
ThreadLevel thread_level();

/// Local. Throws CallError if MPI grants less than what is needed, and says how to ask for it.
void require_threads(ThreadLevel needed);

} // namespace kontor::comm
