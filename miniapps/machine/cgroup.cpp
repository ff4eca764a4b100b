// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/cgroup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

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

} // namespace kontor::miniapp
