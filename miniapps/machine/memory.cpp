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

namespace kontor::miniapp {
namespace {

namespace fs = std::filesystem;

constexpr double unknown = std::numeric_limits<double>::infinity();

/// The first number in a file, or the one after a word; `otherwise` if there is none, as with the word "max".
double number_in(const fs::path& file, double otherwise, std::string_view after = {}) {
  std::ifstream stream(file);
  std::string word;
  while (!after.empty() && stream >> word && word != after) {
  }
  double number = 0;
  return stream >> number ? number : otherwise;
}

/// What a control group grants: https://docs.kernel.org/admin-guide/cgroup-v2.html.
void lower_to(GrantedMemory& granted, const fs::path& group) {
  const double limit = number_in(group / "memory.max", unknown);
  const double used = number_in(group / "memory.current", 0) - number_in(group / "memory.stat", 0, "inactive_file");
  granted.limit = std::min(granted.limit, limit);
  granted.free = std::min(granted.free, std::max(0.0, limit - std::max(0.0, used)));
}

double available_on_host() { return 1024 * number_in("/proc/meminfo", unknown, "MemAvailable:"); }

constexpr const char* kind = device::kernels_on_host ? "host" : "GPU";

/// The memory that a rank's Views lie in.
struct Place {
  double free = unknown;
  std::string words; ///< about it
};

Place place_here() {
  Place place;
  double total = unknown;
  const char* limited = "";
  if constexpr (device::kernels_on_host) {
    place.free = available_on_host();
    const auto granted = memory_of_cgroups();
    if (granted.free < place.free) limited = " (by the memory limit of its control group)";
    place.free = std::min(place.free, granted.free);
    total = std::min(1024 * number_in("/proc/meminfo", unknown, "MemTotal:"), granted.limit);
  } else {
    const auto memory = device::device_memory();
    if (memory.total > 0) place.free = static_cast<double>(memory.free);
    total = static_cast<double>(memory.total);
  }
  place.words =
      fmt::format("the {} of {} has {:.4g} GB free of {:.4g} GB{}", device::kernels_on_host ? "memory" : "GPU",
                  host_name(), place.free / 1e9, total / 1e9, limited);
  return place;
}

} // namespace

GrantedMemory memory_of_cgroups(const fs::path& root) {
  GrantedMemory granted;
  const fs::path top = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup"); // lines "<number>:<controllers>:<path>"; of version 2 "0::<path>"
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    // A container may see the path of the host, while its own group is mounted at the top: what is not there is
    // skipped, and the top counts, too.
    for (fs::path path = fs::path(line.substr(3)).relative_path(); !path.empty(); path = path.parent_path())
      lower_to(granted, top / path);
    // Not top / "": libstdc++ 12 may crash where a name is added to a path that ends with "/", and memory is short.
    lower_to(granted, top);
  }
  return granted;
}

double free_host_memory() { return std::min(available_on_host(), memory_of_cgroups().free); }

double free_memory_of_rank(const comm::Communicator& comm) {
  return comm::allreduce(comm, place_here().free / ranks_of_memory(comm).size(), comm::ReduceOp::min);
}

void require_memory(const comm::Communicator& comm, double mine) {
  const auto place = place_here();
  const auto sharing = ranks_of_memory(comm);
  const double there = comm::allreduce(sharing, mine, comm::ReduceOp::sum);
  const double everywhere = comm::allreduce(comm, mine, comm::ReduceOp::sum);
  std::optional<std::string> problem;
  if (there > place.free)
    problem = fmt::format("out of memory: rank {} needs {:.4g} GB, {:.4g} GB with the other ranks there, but {}; all "
                          "ranks need {:.4g} GB, which fit on {:.0f} such ranks, {} on each {}: use more of them, or "
                          "a smaller problem [E-MEMORY]",
                          comm.rank(), mine / 1e9, there / 1e9, place.words, everywhere / 1e9,
                          std::ceil(everywhere / (place.free / sharing.size())), sharing.size(), kind);
  comm.agree(problem);
}

std::string out_of_memory(const std::exception& error) {
  const std::string_view what = error.what();
  const bool of_kokkos = what.find("failed to allocate") != std::string_view::npos;
  if (!of_kokkos && !dynamic_cast<const std::bad_alloc*>(&error)) return {};
  const auto text = fmt::format("out of memory: {}", what.substr(0, what.find('\n'))); // no traceback
  try {
    return fmt::format("{}; {}: use more {}s, or a smaller problem", text, place_here().words, kind);
  } catch (const std::exception&) { // the device no longer answers
    return text;
  }
}

} // namespace kontor::miniapp
