// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

/// The life of a program of plain MPI: begins MPI and Kokkos, runs `program` with all ranks, and ends them. `program`
/// returns whether its result is right. An error of MPI ends all ranks: so its default handler has it.
template <class Program>
int plain(int argc, char** argv, Program program) {
  MPI_Init(&argc, &argv);
  int status = EXIT_FAILURE;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    if (program(MPI_COMM_WORLD)) status = EXIT_SUCCESS;
  }
  MPI_Finalize();
  return status;
}
