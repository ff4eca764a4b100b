// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/error.hpp>

#include <mpi.h>

#include <exception>
#include <string>

namespace kontor::output {

/// Throws Error if an MPI function did not succeed.
void check_mpi(int result, const char* operation);

/// Collective over comm. The text of rank `root`.
std::string broadcast(MPI_Comm comm, std::string text, int root = 0);

/// Collective over comm. If `failure` is not empty on some rank, throws Error with the lowest such rank's
/// text on every rank.
void agree(MPI_Comm comm, const std::string& failure);

/// Collective over comm. Runs `step` on every rank, and throws on all of them if it threw on any.
template <class Step>
void collectively(MPI_Comm comm, Step&& step) {
  std::string failure;
  try {
    step();
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure.empty()) failure = "unknown error";
  }
  agree(comm, failure);
}

} // namespace kontor::output
