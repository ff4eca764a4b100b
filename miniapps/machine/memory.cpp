// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/memory.hpp"

#include "machine/device.hpp"
#include "machine/node.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <new>
#include <optional>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

namespace fs = std::filesystem;

/// Where a version of control groups has what. https://docs.kernel.org/admin-guide/cgroup-v2.html, "Memory", and
/// https://docs.kernel.org/admin-guide/cgroup-v1/memory.html.
struct Version {
  const char* mount;
  const char* limit;
  const char* used;
  std::string_view cached; ///< the word in memory.stat
};
constexpr Version second{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
constexpr Version first{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                        "total_inactive_file"};

/// The number in a file; `otherwise` if there is none, as with the word "max".
double number_in(const fs::path& file, double otherwise) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? number : otherwise;
}

double cached_in(const fs::path& group, std::string_view word) {
  std::ifstream stream(group / "memory.stat");
  std::string name;
  double bytes = 0;
  while (stream >> name >> bytes)
    if (name == word) return bytes;
  return 0;
}

void lower_to(GrantedMemory& granted, const fs::path& group, const Version& version) {
  const double limit = number_in(group / version.limit, GrantedMemory{}.limit);
  const double used = number_in(group / version.used, 0) - cached_in(group, version.cached);
  granted.limit = std::min(granted.limit, limit);
  granted.free = std::min(granted.free, std::max(0.0, limit - std::max(0.0, used)));
}

} // namespace

GrantedMemory memory_of_cgroups(const fs::path& root) {
  GrantedMemory granted;
  std::ifstream groups(root / "proc/self/cgroup"); // lines "<number>:<controllers>:<path>"
  for (std::string line; std::getline(groups, line);) {
    const auto colon = line.find(':');
    const auto second_colon = line.find(':', colon + 1);
    if (colon == std::string::npos || second_colon == std::string::npos) continue;
    const auto controllers = fmt::format(",{},", line.substr(colon + 1, second_colon - colon - 1));
    const bool of_first = controllers.find(",memory,") != std::string::npos;
    if (!of_first && controllers != ",,") continue;
    const auto& version = of_first ? first : second;
    // A container may see the path of the host, while its own group is mounted at the top: what is not there is
    // skipped, and the top counts, too.
    const fs::path top = root / version.mount;
    for (fs::path path = fs::path(line.substr(second_colon + 1)).relative_path(); !path.empty();
         path = path.parent_path())
      lower_to(granted, top / path, version);
    // Not top / "": libstdc++ 12 may crash where a name is added to a path that ends with "/", and memory is short.
    lower_to(granted, top, version);
  }
  return granted;
}

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

double of_host(std::string_view what) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  double kibibytes = 0;
  while (file >> word)
    if (word == what && file >> kibibytes) return 1024 * kibibytes;
  return unknown;
}

/// Bytes that this process may still map (ulimit -v); infinite without such a limit.
double free_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown;
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages;
  return std::max(static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(sysconf(_SC_PAGESIZE)), 0.0);
}

/// The memory that a rank's Views lie in.
struct Place {
  std::string host;
  double free = unknown;
  double total = unknown;
  bool limited = false; ///< by a control group
  double own = unknown; ///< of it, what this process alone may take
};

Place place_here() {
  Place place;
  place.host = host_name();
  if constexpr (device::kernels_on_host) {
    place.free = of_host("MemAvailable:");
    place.total = of_host("MemTotal:");
    const auto granted = memory_of_cgroups();
    place.limited = granted.free < place.free;
    place.free = std::min(place.free, granted.free);
    place.total = std::min(place.total, granted.limit);
    place.own = free_address_space();
  } else {
    place.free = free_device_memory();
    place.total = static_cast<double>(device::device_memory().total);
  }
  return place;
}

constexpr const char* kind = device::kernels_on_host ? "host" : "GPU";

const char* limit_of(const Place& place) { return place.limited ? " (by the memory limit of its control group)" : ""; }

/// What is wrong with the memory of a rank: its `mine` bytes are asked for with those of all `sharing` ranks there, and
/// those of all ranks `everywhere`.
std::string misfit(int rank, const Place& place, double mine, int sharing, double there, double everywhere) {
  const auto text = fmt::format("out of memory: rank {} on {} needs {:.4g} GB", rank, place.host, mine / 1e9);
  if (mine > place.own)
    return text + fmt::format(", but its process may map {:.4g} GB more (ulimit -v); all ranks need {:.4g} GB, which "
                              "fit on {:.0f} ranks: raise the limit, use more ranks, or a smaller problem",
                              place.own / 1e9, everywhere / 1e9, std::ceil(everywhere / place.own));
  return text + fmt::format(", {:.4g} GB with the other ranks there, but its {} has {:.4g} GB free of {:.4g} GB{}; all "
                            "ranks need {:.4g} GB, which fit on {:.0f} such {}s with {} ranks on each: use more of "
                            "them, or a smaller problem",
                            there / 1e9, kind, place.free / 1e9, place.total / 1e9, limit_of(place), everywhere / 1e9,
                            std::ceil(everywhere / place.free), kind, sharing);
}

} // namespace

double free_host_memory() {
  return std::min({of_host("MemAvailable:"), memory_of_cgroups().free, free_address_space()});
}

double free_device_memory() {
  const auto memory = device::device_memory();
  return memory.total > 0 ? static_cast<double>(memory.free) : unknown;
}

double memory_in_use() {
  if constexpr (!device::kernels_on_host) {
    const auto memory = device::device_memory();
    return static_cast<double>(memory.total - memory.free);
  }
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) return 1024 * std::stod(line.substr(6));
  return 0;
}

double free_memory_of_rank(const comm::Communicator& comm) {
  const auto place = place_here();
  const double mine = std::min(place.free / ranks_of_memory(comm).size(), place.own);
  return comm::allreduce(comm, mine, comm::ReduceOp::min);
}

void require_memory(const comm::Communicator& comm, double mine) {
  const auto place = place_here();
  const auto sharing = ranks_of_memory(comm);
  const double there = comm::allreduce(sharing, mine, comm::ReduceOp::sum);
  const double everywhere = comm::allreduce(comm, mine, comm::ReduceOp::sum);
  std::optional<std::string> problem;
  if (there > place.free || mine > place.own)
    problem = misfit(comm.rank(), place, mine, sharing.size(), there, everywhere);
  if (problem) problem = errors::with_id(std::move(*problem), "E-MEMORY");
  comm.agree(problem);
}

std::string out_of_memory(const std::exception& error) {
  const std::string_view what = error.what();
  const bool of_kokkos = what.find("failed to allocate") != std::string_view::npos;
  if (!of_kokkos && !dynamic_cast<const std::bad_alloc*>(&error)) return {};
  const auto text = fmt::format("out of memory: {}", what.substr(0, what.find('\n'))); // no traceback
  Place place;
  try {
    place = place_here();
  } catch (const std::exception&) { // the device no longer answers
    return text;
  }
  const auto process = place.own < place.free
                           ? fmt::format(", and its process may map {:.4g} GB more (ulimit -v)", place.own / 1e9)
                           : std::string();
  return fmt::format("{}; the {} of {} has {:.4g} GB free of {:.4g} GB{}{}: use more {}s, or a smaller problem", text,
                     kind, place.host, place.free / 1e9, place.total / 1e9, limit_of(place), process, kind);
}

} // namespace kontor::miniapp
