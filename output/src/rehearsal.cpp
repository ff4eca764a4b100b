// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "step.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kontor::output {

namespace {

namespace fs = std::filesystem;

std::string rehearsal_program() {
  if (const char* const named = std::getenv("KONTOR_REHEARSE")) return named;
  std::error_code none;
  const auto beside = fs::read_symlink("/proc/self/exe", none).replace_filename("kontor-rehearse");
  return fs::exists(beside, none) ? beside.string() : KONTOR_REHEARSE;
}

/// Without what is preloaded for this program, such as faults by order of a test.
std::vector<char*> environment() {
  std::vector<char*> variables;
  for (char** at = ::environ; *at; ++at)
    if (!std::string_view(*at).starts_with("LD_PRELOAD=")) variables.push_back(*at);
  variables.push_back(nullptr);
  return variables;
}

/// The process of the program, with the file as standard input; negative: there is none.
pid_t start(std::vector<std::string> arguments, int descriptor) {
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  if (::posix_spawn_file_actions_init(&files) != 0) return -1;
  posix_spawnattr_t attributes;
  if (::posix_spawnattr_init(&attributes) != 0) {
    ::posix_spawn_file_actions_destroy(&files);
    return -1;
  }
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const bool started =
      ::posix_spawn_file_actions_adddup2(&files, descriptor, STDIN_FILENO) == 0 &&
      ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
      ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO) == 0 &&
      ::posix_spawn(&child, pointers.front(), &files, &attributes, pointers.data(), environment().data()) == 0;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return started ? child : -1;
}

} // namespace

void rehearse(int descriptor, const Step& step) {
  auto arguments = words(step);
  arguments.insert(arguments.begin(), rehearsal_program());
  const pid_t child = start(std::move(arguments), descriptor);
  if (child < 0) return;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return; // somebody else waits for all processes
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGXCPU || signal == SIGALRM)
    throw Error("it is damaged: the HDF5 library takes far too long to read it", "E-FILE-DAMAGED");
  if (signal != 0)
    throw Error(fmt::format("it is damaged: the HDF5 library does not survive it (signal {})", signal),
                "E-FILE-DAMAGED");
  if (WEXITSTATUS(status) == wants_memory)
    throw Error("it is damaged: the HDF5 library wants far more memory for it than the file has bytes",
                "E-FILE-DAMAGED");
}

} // namespace kontor::output
