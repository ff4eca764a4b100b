// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <sched.h>
#include <set>
#include <string>
#include <vector>

/// The threads of this process, as the system has them.
namespace kontor::miniapp::test {

inline std::set<int> tasks() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    found.insert(std::stoi(entry.path().filename()));
  return found;
}

/// Those that a thread may run on; 0 is the calling one.
inline std::vector<int> cores_of_task(int task) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(task, sizeof set, &set);
  std::vector<int> cores;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores.push_back(i);
  return cores;
}

/// The calling thread, as OpenMP binds the main one to its place.
class BoundToOneCore {
 public:
  BoundToOneCore() {
    CPU_ZERO(&before_);
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores_of_task(0).front(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~BoundToOneCore() { ::sched_setaffinity(0, sizeof before_, &before_); }
  BoundToOneCore(const BoundToOneCore&) = delete;
  BoundToOneCore& operator=(const BoundToOneCore&) = delete;

 private:
  cpu_set_t before_;
};

} // namespace kontor::miniapp::test
