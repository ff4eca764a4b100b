// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <string>
#include <vector>

/// On which cores the ranks compute. Hardware threads count as cores, as the system numbers them.
namespace kontor::miniapp {

/// Where a rank runs.
struct RankPinning {
  int rank = 0;
  std::string host;
  std::string cores;   ///< that it may use: "0-3,8"; empty if this is not known
  std::string threads; ///< that each thread of the execution space may use: "0-3 8"; empty on a device
};

/// Collective; valid at rank 0, empty elsewhere. Those of all ranks, in their order.
std::vector<RankPinning> places_of(const comm::Communicator&);

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
  std::vector<int> before_; ///< empty: not known, and nothing was changed
};

/// Collective; valid on every rank. Whether on some node the ranks compute with more threads than there are cores that
/// they may run on together. Then they take turns: what all do at once is not what the machine can do. False where
/// kernels run on a device.
bool cores_are_oversubscribed(const comm::Communicator&);

} // namespace kontor::miniapp
