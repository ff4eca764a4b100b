// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/launcher.hpp"

#include "run/start/guard.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/mpi/agree.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <unistd.h>

namespace kontor::miniapp {

namespace {

/// What launchers tell each of their processes: PMIx, PMI, Flux, Slurm. The last may be that of a job's script.
constexpr const char* rank_variables[] = {"PMIX_RANK", "PMI_RANK", "FLUX_TASK_RANK", "SLURM_PROCID"};

/// Nobody is waited for, no memory is asked for, and nothing can be done about an error.
void tell(const char* name, int flags, std::string_view text) noexcept {
  const char* const folder = std::getenv("KONTOR_RUN_FOLDER");
  char path[4096];
  if (!folder || std::snprintf(path, sizeof path, "%s/%s", folder, name) >= static_cast<int>(sizeof path)) return;
  const int file = ::open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, text.data(), text.size());
  ::close(file);
}

} // namespace

void tell_started() noexcept { tell("started", O_CREAT | O_EXCL, ""); }

void tell_failed() noexcept {
  tell("words", 0, "failed\n"); // a pipe that the launcher's supervisor reads
}

void tell_done() noexcept {
  tell("done", O_CREAT | O_EXCL, "");
  tell("words", 0, "done\n");
}

bool first_of_launcher() {
  return std::all_of(std::begin(rank_variables), std::end(rank_variables), [](const char* variable) {
    const char* rank = std::getenv(variable);
    return !rank || std::string_view(rank) == "0";
  });
}

namespace {

constexpr unsigned default_seconds = 300;
constexpr unsigned most_seconds = 999'999;
constexpr const char* variable = "KONTOR_START_SECONDS";

constexpr std::string_view mpi_does_not_start =
    "MPI_Init has not returned: not all processes of the launcher have come there, or they do not reach each other";
constexpr std::string_view messages_do_not_come =
    "the first messages of other ranks have not come: a rank has stopped, the network that MPI has chosen does not "
    "join "
    "the ranks (a firewall, a wrong interface), or MPI got no memory that ranks share (ulimit -v, /dev/shm); what MPI "
    "said above may tell";

std::array<char, 64> where_and_when; ///< made before it is needed: a handler may not
volatile std::sig_atomic_t in_mpi_init = 1;

extern "C" void give_up(int /*signal*/) {
  for (const std::string_view words :
       {std::string_view(where_and_when.data()), in_mpi_init ? mpi_does_not_start : messages_do_not_come,
        std::string_view(" (KONTOR_START_SECONDS sets this limit, 0 is none) [E-LAUNCH-TIMEOUT]\n")})
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
  tell_failed();
  ::_exit(exit_failed);
}

std::optional<unsigned> seconds_allowed() noexcept {
  const char* const text = std::getenv(variable);
  if (!text) return default_seconds;
  const std::string_view number = text;
  unsigned seconds = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (error != std::errc() || end != number.data() + number.size() || seconds > most_seconds) return std::nullopt;
  return seconds;
}

} // namespace

void limit_start() noexcept {
  const auto seconds = seconds_allowed().value_or(default_seconds);
  if (seconds == 0) return;
  const char* rank = nullptr;
  for (const char* of_launcher : rank_variables)
    if (!rank) rank = std::getenv(of_launcher);
  std::snprintf(where_and_when.data(), where_and_when.size(), "%s%.20s%s%u s after the start ", rank ? "rank " : "",
                rank ? rank : "", rank ? ": " : "", seconds);
  std::signal(SIGALRM, give_up);
  ::alarm(seconds);
}

std::string problem_with_start_limit() {
  if (seconds_allowed()) return {};
  return fmt::format("{} is '{}'; allowed is a whole number of seconds up to {} [E-USAGE-OPTION]\n", variable,
                     std::getenv(variable), most_seconds);
}

void mpi_has_started() noexcept { in_mpi_init = 0; }

void end_start_limit() noexcept {
  ::alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

namespace {

/// What says how many processes were started: `kontor run`, then launchers by PMI, Open MPI's and Slurm's.
constexpr const char* size_variables[] = {"KONTOR_RANKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};

/// Local. What is wrong with so many ranks; empty: nothing. A variable of a launcher counts for a single rank only:
/// more have found each other, perhaps by another launcher that was started by the first.
std::string problem_with(int ranks) {
  const auto found = std::find_if(std::begin(size_variables), std::end(size_variables), [&](const char* name) {
    const char* const size = std::getenv(name);
    return size && std::to_string(ranks) != size && (ranks == 1 || name == size_variables[0]);
  });
  if (found == std::end(size_variables)) return {};
  const char* const expected = std::getenv(*found);
  return fmt::format("the program was started on {} {}, but {} says {}: the launcher and the "
                     "program's MPI do not find each other. Use the launcher of that MPI; with srun, set "
                     "SLURM_MPI_TYPE to a protocol that the MPI speaks (`srun --mpi=list` has them: pmix for "
                     "Open MPI, pmi2 for MPICH) [E-LAUNCH-RANKS]\n",
                     ranks, ranks == 1 ? "rank" : "ranks", *found, expected);
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
