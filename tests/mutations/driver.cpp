// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many runs in one process, each as a program's main() makes one: those of the lines of a file, "<number of a
// mutant> <variant>\t<argument>\t...". What each prints ends in a line "run <exit code> <mistake reached>".
#include "mutants.hpp"
#include "run/run.hpp"
#include "run/start/guard.hpp"
#include "run/start/kokkos_start.hpp"
#include "run/start/run_main.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <sys/time.h>
#include <unistd.h>

int app_main(int argc, char** argv); // of the app

/// In place of that of run/start/run_main.cpp, which starts MPI and Kokkos for one run.
int kontor::miniapp::run_main(int argc, char** argv, const App& app) {
  CommandLine line;
  return guarded([&] {
    parse_command_line(argc, argv, app.name, app.summary, line);
    return Run(line, "", app, {})();
  });
}

int main(int argc, char** argv) {
  using namespace kontor;
  constexpr itimerval of_cpu{{0, 0}, {10, 0}}; // for a line, whatever else the processors do
  constexpr unsigned seconds = 100;            // for one that sleeps
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  miniapp::start_kokkos({argv[0]});
  std::ifstream lines(argv[1]);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(text, word, '\t');) words.push_back(word);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    std::istringstream(words.at(0)) >> mutants::number >> mutants::variant;
    mutants::count = 0;
    ::setitimer(ITIMER_PROF, &of_cpu, nullptr); // ends the process, as the other one
    ::alarm(seconds);
    const int code = app_main(static_cast<int>(arguments.size()), arguments.data());
    int reached = std::exchange(mutants::reached, false) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) fmt::print("run {} {}\n", code, reached);
    std::fflush(stdout);
  }
  constexpr itimerval none{};
  ::setitimer(ITIMER_PROF, &none, nullptr);
  ::alarm(0);
  Kokkos::finalize();
  MPI_Finalize();
  return miniapp::exit_verified;
}
