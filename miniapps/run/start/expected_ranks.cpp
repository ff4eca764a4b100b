// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/expected_ranks.hpp"

#include "run/start/broadcast_text.hpp"
#include "run/start/guard.hpp"
#include "run/start/launcher.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <string>

namespace kontor::miniapp {
namespace {

/// Local. What is wrong with so many ranks; empty: nothing.
std::string problem_with(int ranks) {
  const char* expected = std::getenv("KONTOR_RANKS");
  if (!expected || std::to_string(ranks) == expected) return {};
  return fmt::format("the program was started on {} {}, but KONTOR_RANKS says {}: the launcher and the "
                     "program's MPI do not find each other. Use the launcher of that MPI; with srun, set "
                     "SLURM_MPI_TYPE to a protocol that the MPI speaks (`srun --mpi=list` has them: pmix for "
                     "Open MPI, pmi2 for MPICH)\n",
                     ranks, ranks == 1 ? "rank" : "ranks", expected);
}

} // namespace

std::optional<EarlyExit> unexpected_ranks() {
  int ranks = 0;
  comm::mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const auto problem =
      broadcast(MPI_COMM_WORLD, problem_with(ranks)); // other hosts may not have the variable
  if (problem.empty()) return std::nullopt;
  return EarlyExit{exit_failed, first_of_launcher() ? problem : ""};
}

} // namespace kontor::miniapp
