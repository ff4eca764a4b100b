// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/mpi/check.hpp>

#include <mpi.h>

namespace kontor::mpi {

/// Local. The rank of the calling process. Throws Error if MPI reports one.
template <class Error>
int rank_of(MPI_Comm comm) {
  int rank = 0;
  check<Error>(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

/// Local. The number of ranks. Throws Error if MPI reports one.
template <class Error>
int size_of(MPI_Comm comm) {
  int size = 0;
  check<Error>(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

} // namespace kontor::mpi
