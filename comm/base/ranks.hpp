// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/mpi/ranks.hpp>

#include <mpi.h>

#include <cstdint>

/// The ranks of a communicator and what MPI tells of them.
namespace kontor::comm::mpi {

inline int rank_of(MPI_Comm comm) { return kontor::mpi::rank_of<MpiError>(comm); }
inline int size_of(MPI_Comm comm) { return kontor::mpi::size_of<MpiError>(comm); }

/// Local. The bytes of a message that was probed. MPI_Get_elements_x alone counts more than an int holds, and SMPI 3.32
/// does not have it.
inline std::int64_t bytes_of(MPI_Status status) {
  int count = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  MPI_Count bytes = count;
  if (count == MPI_UNDEFINED) check(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  return bytes;
}

/// Collective. A communicator of the ranks that share memory with this one, for the caller to free.
inline MPI_Comm split_by_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  return node;
}

/// Local. Lets MPI move messages: while a rank waits for memory, a peer may need them to come to what it writes.
inline void make_progress(MPI_Comm comm) {
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
}

} // namespace kontor::comm::mpi
