// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/started_alike.hpp"

#include "run/start/broadcast_text.hpp"
#include "run/start/guard.hpp"
#include "run/start/launcher.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/mpi/agree.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace kontor::miniapp {
namespace {

/// Local. What is wrong with so many ranks; empty: nothing.
std::string problem_with(int ranks) {
  const char* expected = std::getenv("KONTOR_RANKS");
  if (!expected || std::to_string(ranks) == expected) return {};
  return fmt::format("the program was started on {} {}, but KONTOR_RANKS says {}: the launcher and the "
                     "program's MPI do not find each other. Use the launcher of that MPI; with srun, set "
                     "SLURM_MPI_TYPE to a protocol that the MPI speaks (`srun --mpi=list` has them: pmix for "
                     "Open MPI, pmi2 for MPICH) [E-LAUNCH-RANKS]\n",
                     ranks, ranks == 1 ? "rank" : "ranks", expected);
}

} // namespace

std::optional<EarlyExit> unexpected_ranks() {
  int ranks = 0;
  comm::mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const auto problem = broadcast(MPI_COMM_WORLD, problem_with(ranks)); // other hosts may not have the variable
  if (problem.empty()) return std::nullopt;
  return EarlyExit{exit_failed, first_of_launcher() ? problem : ""};
}

std::optional<EarlyExit> different_arguments(std::string_view app, int argc, char** argv) {
  std::string mine(app);
  for (int i = 1; i < argc; ++i) mine += fmt::format(" {}", argv[i]);
  const auto first = broadcast(MPI_COMM_WORLD, mine);
  const auto other =
      mpi::first_problem<comm::Error>(MPI_COMM_WORLD, mine == first ? std::nullopt : std::optional(std::move(mine)));
  if (!other) return std::nullopt;
  return EarlyExit{exit_user_error,
                   fmt::format("rank 0 runs '{}', but rank {} runs '{}'; all ranks of a run have the same program and "
                               "arguments: start others by a launcher of their own [E-LAUNCH-RANKS]\n",
                               first, other->rank, other->text)};
}

} // namespace kontor::miniapp
