// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/deck_file.hpp"

#include <kontor/comm/backend/mpi_check.hpp>

#include <cstdint>

namespace kontor::miniapp {

using comm::mpi::check;

std::string broadcast(std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return text;
}

config::Deck read_deck(const std::string& path, const std::vector<std::string>& overrides) {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  std::string problem;
  std::string text;
  try {
    if (rank == 0) text = config::read_text(path);
  } catch (const config::Error& error) {
    problem = error.what();
  }
  problem = broadcast(problem);
  if (!problem.empty()) throw config::Error({problem});
  return config::Deck::parse(broadcast(text), path, overrides);
}

} // namespace kontor::miniapp
