// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"

#include <kontor/comm/backend/mpi_check.hpp>

namespace kontor::comm::mpi {

std::optional<std::string> first_problem(MPI_Comm comm, const std::optional<std::string>& problem) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  int lowest = problem ? rank : size;
  check(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (lowest == size) return std::nullopt;
  int length = rank == lowest ? static_cast<int>(problem->size()) : 0;
  check(MPI_Bcast(&length, 1, MPI_INT, lowest, comm), "MPI_Bcast");
  std::string text = rank == lowest ? *problem : std::string(length, '\0');
  check(MPI_Bcast(text.data(), length, MPI_CHAR, lowest, comm), "MPI_Bcast");
  return text;
}

} // namespace kontor::comm::mpi
