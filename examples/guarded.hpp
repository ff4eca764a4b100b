// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/comm.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>

/// The life of a program: begins MPI and Kokkos, runs `program` with a communicator of all ranks, and ends them.
/// `program` returns whether its result is right. An exception ends all ranks: the others may be waiting for the one
/// that threw.
template <class Program>
int guarded(int argc, char** argv, Program program) {
  MPI_Init(&argc, &argv);
  int status = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    if (program(kontor::comm::Communicator(MPI_COMM_WORLD))) status = EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
