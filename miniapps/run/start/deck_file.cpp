// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/deck_file.hpp"

#include "run/start/broadcast_text.hpp"

#include <kontor/comm/mpi_check.hpp>

namespace kontor::miniapp {

using comm::mpi::check;

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
  problem = broadcast(MPI_COMM_WORLD, problem);
  if (!problem.empty()) throw config::Error({problem}, "E-FILE-READ");
  return config::Deck::parse(broadcast(MPI_COMM_WORLD, text), path, overrides);
}

} // namespace kontor::miniapp
