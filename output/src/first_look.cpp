// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "first_look.hpp"

#include "dataset.hpp"
#include "driver.hpp"
#include "stored.hpp"
#include "stored_values.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kontor::output {

namespace {

constexpr std::size_t most_objects =
    100'000; ///< that are looked at: of a snapshot each, long series have fewer
constexpr int deepest = 64;
constexpr double most_bytes = 4 << 20; ///< of a dataset whose values are read
constexpr rlim_t room =
    rlim_t{1} << 29; ///< bytes of memory, beyond what the process has and four times the file
constexpr unsigned wall_seconds = 120; ///< a disk may be slow

constexpr int survived = 0, wants_memory = 3;

/// Reads all that a reader may read but the values of large datasets.
class Look {
 public:
  explicit Look(const Stored& stored) : stored_(stored) {}

  /// Whether HDF5 had the memory that it wanted.
  bool finds_room() {
    group("/", 0);
    return !wanted_memory_;
  }

 private:
  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const Error& error) { // which a reader would get as well
      wanted_memory_ |= std::strstr(error.what(), "memory allocation failed") != nullptr;
    }
  }

  void group(const std::string& path, int depth) {
    attempt([&] { static_cast<void>(stored_attributes(stored_, path)); });
    if (depth == deepest) return;
    attempt([&] {
      for (const auto& name : member_names(stored_.file, path)) {
        if (names_.size() == most_objects) return;
        attempt([&] { member((path == "/" ? "" : path) + "/" + name, depth + 1); });
      }
    });
  }

  void member(const std::string& path, int depth) {
    if (!exists(stored_.file, path)) return;
    const Handle object(H5Oopen(stored_.file, path.c_str(), H5P_DEFAULT), H5Oclose, "H5Oopen", path);
    H5O_info_t info;
    check(H5Oget_info(object, &info), "H5Oget_info", path);
    if (!names_.insert(info.addr).second) return; // by another link
    if (info.type == H5O_TYPE_GROUP) return group(path, depth);
    attempt([&] { static_cast<void>(stored_attributes(stored_, path)); });
    if (info.type == H5O_TYPE_DATASET) values(path);
  }

  void values(const std::string& path) {
    const Handle dataset = open_dataset(stored_.file, path);
    const auto extents = extents_of(dataset, path);
    const Handle type(H5Dget_type(dataset), H5Tclose, "H5Dget_type", path);
    double bytes = static_cast<double>(H5Tget_size(type));
    for (const auto extent : extents) bytes *= static_cast<double>(extent);
    if (bytes <= most_bytes && extents.size() <= 1)
      static_cast<void>(dataset_values(stored_, dataset, path));
    else if (bytes > 0 && H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tis_variable_str(type) <= 0)
      numbers(dataset, path, type, extents, bytes <= most_bytes);
  }

  /// All of them, or of many the first.
  static void numbers(hid_t dataset, const std::string& path, hid_t type, const Extents& extents, bool all) {
    Box box{Extents(extents.size(), 0), extents};
    if (!all) std::fill(box.extent.begin(), box.extent.end(), 1);
    std::vector<std::byte> values(elements(box.extent) * H5Tget_size(type));
    read_box(dataset, path, box, type, values.data());
  }

  Stored stored_;
  std::set<haddr_t> names_; ///< addresses of what has been seen
  bool wanted_memory_ = false;
};

void limit(int what, rlim_t most) {
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

/// The other process: returns its exit code, or ends by a signal, and tells nobody.
int look(int descriptor, std::uint64_t bytes) {
  const std::uint64_t seconds =
      std::min<std::uint64_t>(2 + (bytes >> 20), 60); // a valid one of a MiB takes a fraction of one
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU, SIGTERM, SIGINT})
    std::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, seconds);
  limit(RLIMIT_AS, address_space() + room + 4 * bytes);
  ::alarm(wall_seconds);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDERR_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  try {
    Driver driver;
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "the file");
    driver.use_in(access, descriptor, Driver::Beyond::error);
    const Handle file(H5Fopen("a first look", H5F_ACC_RDONLY, access), H5Fclose, "H5Fopen", "the file");
    return Look({file, bytes}).finds_room() ? survived : wants_memory;
  } catch (const Error&) { // it cannot be opened, which the reader will be told as well
    return survived;
  } catch (const std::exception&) {
    return wants_memory;
  }
}

} // namespace

void look_first(int descriptor, std::uint64_t bytes) {
  const pid_t child = ::fork();
  if (child < 0) return;
  if (child == 0) ::_exit(look(descriptor, bytes));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return; // somebody else waits for all processes
  if (WIFEXITED(status) && WEXITSTATUS(status) == survived) return;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGXCPU || signal == SIGALRM)
    throw Error("it is damaged: reading its structure takes far too long");
  if (signal != 0)
    throw Error(fmt::format("it is damaged: reading its structure ends with signal {}", signal));
  throw Error("it is damaged: reading its structure takes far more memory than the file has bytes");
}

} // namespace kontor::output
