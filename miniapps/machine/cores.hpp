// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <sched.h>
#include <string>
#include <vector>

/// On which cores the ranks compute. Hardware threads count as cores, as the system numbers them.
namespace kontor::miniapp {

/// Collective; valid at rank 0, empty elsewhere. The table /run/placement of all ranks, in their order: rank, host,
/// cores that it may use ("0-3,8"; empty if this is not known), threads (those of each thread of the execution space:
/// "0-3 8"; empty on a device).
nlohmann::ordered_json placement_of(const comm::Communicator&);

/// Local. Numbers in rising order as ranges: "0-3,8".
std::string ranges(const std::vector<int>& numbers);

/// While it lives, the calling thread may run on all cores that any thread of this process may run on, and so may
/// threads that it creates. They would inherit its own binding, which an OpenMP library narrows to one core
/// (OMP_PROC_BIND) after the process has been given more.
class OnAllCores {
 public:
  OnAllCores();
  ~OnAllCores();
  OnAllCores(const OnAllCores&) = delete;
  OnAllCores& operator=(const OnAllCores&) = delete;

 private:
  cpu_set_t before_; ///< empty: not known
};

/// Collective; valid on every rank. Whether on some node the ranks compute with more threads than there are cores that
/// they may run on together. Then they take turns: what all do at once is not what the machine can do. False where
/// kernels run on a device.
bool cores_are_oversubscribed(const comm::Communicator&);

} // namespace kontor::miniapp
