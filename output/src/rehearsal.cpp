// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rehearsal.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kontor::output {

namespace {

constexpr rlim_t room = rlim_t{1} << 29; ///< bytes, beyond what the process has and four times the file
constexpr unsigned wall_seconds = 120;   ///< a disk may be slow
constexpr int survived = 0, wants_memory = 3;

void limit(__rlimit_resource_t what, rlim_t most) {
  rlimit now{};
  ::getrlimit(what, &now);
  now.rlim_cur = std::min(most, now.rlim_max);
  ::setrlimit(what, &now);
}

/// Bytes of address space of this process.
rlim_t address_space() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  return statm >> pages ? pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) : RLIM_INFINITY / 2;
}

/// The other process: returns its exit code, or ends by a signal. It tells nobody.
int attempt(std::uint64_t file_bytes, const std::function<void()>& step) {
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU, SIGTERM, SIGINT, SIGUSR1})
    std::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, std::min<rlim_t>(2 + (file_bytes >> 20), 60)); // a MiB takes a fraction of a second
  limit(RLIMIT_AS, address_space() + room + 4 * file_bytes);
  ::alarm(wall_seconds);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDERR_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  try {
    step();
  } catch (const std::bad_alloc&) {
    return wants_memory;
  } catch (const Error& error) {
    return std::strstr(error.what(), "memory allocation failed") ? wants_memory : survived;
  } catch (const std::exception&) { // the caller will have it, too
  }
  return survived;
}

} // namespace

void rehearse(std::uint64_t file_bytes, const std::function<void()>& step) {
  const pid_t child = ::fork();
  if (child < 0) return;
  if (child == 0) ::_exit(attempt(file_bytes, step));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return; // somebody else waits for all processes
  if (WIFEXITED(status) && WEXITSTATUS(status) == survived) return;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGXCPU || signal == SIGALRM)
    throw Error("it is damaged: the HDF5 library takes far too long to read it");
  if (signal != 0)
    throw Error(fmt::format("it is damaged: the HDF5 library does not survive it (signal {})", signal));
  throw Error("it is damaged: the HDF5 library wants far more memory for it than the file has bytes");
}

} // namespace kontor::output
