// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kontor-rehearse <step>: makes one step of a Reader (step.hpp) with the file that is its standard input, within limits
// of memory and time. How it ends says whether the HDF5 library survives that. No MPI.
#include "src/step.hpp"

#include <kontor/output/error.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace kontor::output;

constexpr rlim_t room = rlim_t{1} << 29; ///< bytes, beyond what the process has and four times the file
constexpr unsigned wall_seconds = 120;   ///< a disk may be slow

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

int attempt(const std::vector<std::string>& words) {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return survived;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  try {
    start_hdf5();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, std::min<rlim_t>(2 + (bytes >> 20), 60)); // a MiB takes a fraction of a second
    limit(RLIMIT_AS, address_space() + room + 4 * bytes);
    ::alarm(wall_seconds);
    Driver driver;
    const Handle file = open_to_read(driver, STDIN_FILENO, "the file");
    static_cast<void>(take({file, bytes}, from_words(words)));
  } catch (const std::bad_alloc&) {
    return wants_memory;
  } catch (const Error& error) {
    return std::strstr(error.what(), "memory allocation failed") ? wants_memory : survived;
  } catch (const std::exception&) { // the caller will have it, too
  }
  return survived;
}

} // namespace

int main(int count, char** words) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU, SIGTERM, SIGINT, SIGUSR1})
    std::signal(signal, SIG_DFL);
  ::_exit(attempt({words + 1, words + count})); // the library's own end may not be survived
}
