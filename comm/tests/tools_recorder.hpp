// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

/// What Kokkos tells its profiling tools, written down.
namespace kontor::comm::test {

struct ToolsRecord {
  std::vector<std::string> kernels;     ///< parallel_for, parallel_reduce and parallel_scan, in order
  std::vector<std::string> fences;      ///< except those that Kokkos makes for its tools
  std::vector<std::string> allocations; ///< labels of Views
  std::vector<std::string> regions;     ///< as they begin
  int open_regions = 0;                 ///< begun and not ended
};

void start_recording_tools();
ToolsRecord stop_recording_tools();

} // namespace kontor::comm::test
