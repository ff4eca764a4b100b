// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/error.hpp>

#include <mpi.h>

#include <optional>
#include <string>

namespace kontor::comm::mpi {

/// Collective. What the lowest rank that has a problem says about it, on every rank; nothing if none has one.
std::optional<std::string> first_problem(MPI_Comm, const std::optional<std::string>& problem);

/// Collective. Calls `f` on every rank. Where it throws Error on one of them, all ranks throw AgreedError
/// with the text of the lowest.
template <class F>
void agreed(MPI_Comm comm, const F& f) {
  std::optional<std::string> problem;
  try {
    f();
  } catch (const Error& error) {
    problem = error.what();
  }
  if (const auto first = first_problem(comm, problem)) throw AgreedError(*first);
}

} // namespace kontor::comm::mpi
