// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/launcher.hpp"

#include "run/start/guard.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/config/error.hpp>
#include <kontor/mpi/agree.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <string_view>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

/// Makes an empty file. Nobody is waited for, no memory is asked for, and nothing can be done about an error.
void tell(const char* name) noexcept {
  const char* const folder = std::getenv("KONTOR_RUN_FOLDER");
  char path[4096];
  if (!folder || std::snprintf(path, sizeof path, "%s/%s", folder, name) >= static_cast<int>(sizeof path)) return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

/// What says how many processes were started: `kontor run`, then launchers by PMI, Open MPI's and Slurm's.
constexpr const char* size_variables[] = {"KONTOR_RANKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};

} // namespace

void tell_started() noexcept { tell("started"); }

void tell_failed() noexcept { tell("failed"); }

void tell_done() noexcept { tell("done"); }

void limit_start() noexcept {
  const char* const text = std::getenv("KONTOR_START_SECONDS");
  unsigned seconds = 300;
  if (text) {
    const std::string_view number = text;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), seconds);
    if (error != std::errc() || end != number.data() + number.size() || seconds > 999'999) {
      std::fprintf(stderr,
                   "KONTOR_START_SECONDS is '%.80s'; allowed are whole numbers from 0 to 999999 [E-USAGE-OPTION]\n",
                   text);
      ::_exit(exit_user_error);
    }
  }
  end_after(seconds, exit_failed,
            "the ranks have not found each other within KONTOR_START_SECONDS (300): a process is missing or has "
            "stopped, the network that MPI has chosen does not join them (a firewall, a wrong interface), or MPI got "
            "no memory that ranks share (ulimit -v, /dev/shm) [E-LAUNCH-TIMEOUT]\n");
}

/// A variable of a launcher counts for a single rank only: more have found each other, perhaps by another launcher that
/// was started by the first.
void require_ranks() {
  int ranks = 0;
  comm::mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const auto found = std::find_if(std::begin(size_variables), std::end(size_variables), [&](const char* name) {
    const char* const size = std::getenv(name);
    return size && std::to_string(ranks) != size && (ranks == 1 || name == size_variables[0]);
  });
  std::string problem;
  if (found != std::end(size_variables))
    problem = fmt::format("the program was started on {} {}, but {} says {}: the launcher and the program's MPI do not "
                          "find each other. Use the launcher of that MPI; with srun, set SLURM_MPI_TYPE to a protocol "
                          "that the MPI speaks (`srun --mpi=list` has them: pmix for Open MPI, pmi2 for MPICH) "
                          "[E-LAUNCH-RANKS]",
                          ranks, ranks == 1 ? "rank" : "ranks", *found, std::getenv(*found));
  problem = broadcast(MPI_COMM_WORLD, problem); // other hosts may not have the variable
  if (!problem.empty()) throw comm::AgreedError(problem);
}

void require_same_arguments(const char* app, int argc, char** argv) {
  std::string mine(app);
  for (int i = 1; i < argc; ++i) mine += fmt::format(" {}", argv[i]);
  const auto first = broadcast(MPI_COMM_WORLD, mine);
  const auto other =
      mpi::first_problem<comm::Error>(MPI_COMM_WORLD, mine == first ? std::nullopt : std::optional(std::move(mine)));
  if (other)
    throw config::Error({fmt::format("rank 0 runs '{}', but rank {} runs '{}'; all ranks of a run have the same "
                                     "program and arguments: start others by a launcher of their own",
                                     first, other->rank, other->text)},
                        "E-LAUNCH-RANKS");
}

} // namespace kontor::miniapp
