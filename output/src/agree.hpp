// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/mpi/agree.hpp>
#include <kontor/output/error.hpp>

#include <mpi.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace kontor::output {

/// Throws Error if an MPI function did not succeed.
inline void check_mpi(int result, const char* operation) {
  mpi::check<Error>(result, operation);
}

/// Collective over comm. The text of rank 0.
inline std::string broadcast(MPI_Comm comm, std::string text) {
  return mpi::broadcast<Error>(comm, std::move(text));
}

/// Collective over comm. Runs `step` on every rank. If it throws on one of them, all throw Error with the
/// text of the lowest.
template <class Step>
void collectively(MPI_Comm comm, Step&& step) {
  std::optional<std::string> failure;
  try {
    step();
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure->empty()) failure = "unknown error";
  }
  const auto first = mpi::first_problem<Error>(comm, failure);
  if (first)
    throw Error(first->rank == 0 ? first->text
                                 : first->text + " (on rank " + std::to_string(first->rank) + ")");
}

} // namespace kontor::output
