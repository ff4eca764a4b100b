// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/mpi/ranks.hpp>

#include <mpi.h>

#include <optional>
#include <string>

namespace kontor::mpi {

/// Collective. The text of rank `root`. Throws Error if MPI reports one.
template <class Error>
std::string broadcast(MPI_Comm comm, std::string text, int root = 0) {
  auto length = static_cast<int>(text.size());
  check<Error>(MPI_Bcast(&length, 1, MPI_INT, root, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check<Error>(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm), "MPI_Bcast");
  return text;
}

/// What a rank has to say, and which one.
struct Problem {
  int rank = 0;
  std::string text;
};

/// Collective. What the lowest rank that has a problem says about it, on every rank; nothing if none has one. Throws
/// Error if MPI reports one.
template <class Error>
std::optional<Problem> first_problem(MPI_Comm comm, const std::optional<std::string>& problem) {
  const int rank = rank_of<Error>(comm);
  const int size = size_of<Error>(comm);
  int lowest = problem ? rank : size;
  check<Error>(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (lowest == size) return std::nullopt;
  return Problem{lowest, broadcast<Error>(comm, rank == lowest ? *problem : std::string(), lowest)};
}

} // namespace kontor::mpi
