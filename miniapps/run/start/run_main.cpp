// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/run_main.hpp"

#include "run/loop/stop_request.hpp"
#include "run/options.hpp"
#include "run/run.hpp"
#include "run/start/command_line.hpp"
#include "run/start/guard.hpp"
#include "run/start/kokkos_start.hpp"
#include "run/start/launcher.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/registry.hpp>
#include <kontor/config/deck.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace kontor::miniapp {
namespace {

void print_backends() {
  for (const auto& entry : comm::backends())
    fmt::print("{:<8}{:<14}{}\n", entry.name, entry.make ? "built" : "not built", entry.summary);
  fmt::print("{:<8}{:<14}{}\n", comm::automatic_backend, "-", "the fastest of those that move data, by trial");
}

/// What needs no deck: the schema, the list of backends.
void inform(const CommandLine& line, const App& app) {
  if (line.list_backends) print_backends();
  if (line.schema) {
    RunOptions options;
    const auto schema = config::json_schema(app.name, [&](config::Visitor& v) {
      app.describe(v);
      options.describe(v);
    });
    fmt::print("{}\n", schema.dump(2));
  }
}

/// Whatever is printed waits here until the end, so that a full disk is met in one place.
void hold_back_stdout() {
  static std::array<char, 1 << 20> buffer;
  std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
}

/// Now, because a launcher may end this rank once another has left with an error. Returns the exit code.
int flush_stdout(int rank, int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  const std::string reason = std::strerror(errno);
  to_stderr(fmt::format("rank {}: stdout cannot be written: {} [E-FILE-WRITE]\n", rank, reason));
  return code == exit_verified ? exit_failed : code;
}

/// Returns the exit code.
int run(int rank, int argc, char** argv, const App& app, comm::Stopwatch since_start) {
  const auto command = fmt::format("{}", fmt::join(std::span(argv, static_cast<std::size_t>(argc)), " "));
  const auto for_kokkos = take_kokkos_arguments(argc, argv);
  require_ranks();
  if (rank == 0) tell_started();
  require_same_arguments(app.name.c_str(), argc, argv);
  CommandLine line;
  const auto text = parse_command_line(argc, argv, app.name, app.summary, line);
  const bool informs = text || line.schema || line.list_backends;
  if (!informs) start_kokkos(for_kokkos);
  end_after(0, exit_failed, ""); // the ranks have found each other
  if (!informs) return Run(line, command, app, since_start)();
  if (rank == 0) {
    if (text) fmt::print("{}", *text);
    inform(line, app);
  }
  return exit_verified;
}

} // namespace

int run_main(int argc, char** argv, const App& app) {
  const comm::Stopwatch since_start;
  std::signal(SIGXFSZ, SIG_IGN); // a write beyond `ulimit -f` is an error then, like others
  hold_back_stdout();
  catch_end_signals();
  limit_start();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided); // ends the program where it fails
  int rank = 0;
  const auto work = [&] {
    comm::mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    return run(rank, argc, argv, app, since_start);
  };
  // By reference: a copy asks for memory, and nobody could tell yet that there is none.
  const int ended = guarded(std::ref(work));
  const int code = flush_stdout(rank, ended);
  if (Kokkos::is_initialized()) Kokkos::finalize();
  tell_done();
  MPI_Finalize();
  limit_exit(code);
  return code;
}

} // namespace kontor::miniapp
