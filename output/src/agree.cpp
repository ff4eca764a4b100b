// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kontor::output {

void check_mpi(int result, const char* operation) {
  if (result == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  text.resize(length);
  std::ranges::replace(text, '\n', ' '); // MPICH's has the stack of its calls
  throw Error(fmt::format("{} failed: {}", operation, text));
}

std::string broadcast(MPI_Comm comm, std::string text, int root) {
  int length = static_cast<int>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, root, comm), "MPI_Bcast");
  text.resize(length);
  check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm), "MPI_Bcast");
  return text;
}

void agree(MPI_Comm comm, const std::string& failure) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int mine = failure.empty() ? size : rank;
  int first = size;
  check_mpi(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (first == size) return;
  const std::string text = broadcast(comm, failure, first);
  throw Error(first == 0 ? text : fmt::format("{} (on rank {})", text, first));
}

} // namespace kontor::output
