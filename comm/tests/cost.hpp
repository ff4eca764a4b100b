// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "allocation_counter.hpp"
#include "comm_test.hpp"

#include <functional>

/// What a piece of code does besides its work.
namespace kontor::comm::test {

using List = std::vector<std::string>;
using Step = std::function<void()>;

///@{
/// Calls of MPI functions on this rank, through MPI's profiling interface. Those never called are left out.
using MpiCalls = std::map<std::string, int>;
void start_counting_mpi();
MpiCalls stop_counting_mpi();
///@}

/// What Kokkos tells its profiling tools.
struct ToolsRecord {
  List kernels;            ///< parallel_for, parallel_reduce and parallel_scan, in order
  List fences;             ///< except those that Kokkos makes for its tools
  List allocations;        ///< labels of Views
  List regions;            ///< as they begin
  int open_regions = 0;    ///< begun and not ended
  bool unbalanced = false; ///< one ended that had not begun
};
void start_recording_tools();
ToolsRecord stop_recording_tools();

struct Cost {
  MpiCalls mpi;
  int allocations = 0;
  ToolsRecord tools;
};

/// Takes the step twice: with the counters, and with the tools, for which Kokkos itself allocates and fences.
inline Cost cost_of(const Step& step) {
  Cost cost;
  start_counting_mpi();
  start_counting_allocations();
  step();
  cost.allocations = stop_counting_allocations();
  cost.mpi = stop_counting_mpi();

  start_recording_tools();
  step();
  cost.tools = stop_recording_tools();
  return cost;
}

enum class Allocations { none, some };

/// The step makes these MPI calls, fences and regions, and nothing else.
inline void expect_calls(const MpiCalls& calls, Allocations allocations, const Step& step,
                         const ToolsRecord& tools = {}) {
  const auto cost = cost_of(step);
  EXPECT_EQ(cost.mpi, calls);
  if (allocations == Allocations::none) {
    EXPECT_EQ(cost.allocations, 0) << calls.begin()->first;
  }
  EXPECT_EQ(cost.tools.allocations, List{});
  EXPECT_EQ(cost.tools.kernels, List{});
  EXPECT_EQ(cost.tools.fences, tools.fences);
  EXPECT_EQ(cost.tools.regions, tools.regions);
}

inline void expect_calls(const MpiCalls& calls, const Step& step) { expect_calls(calls, Allocations::none, step); }

/// The step makes these MPI calls, and one kernel at each end.
inline void expect_packed(const MpiCalls& calls, const Step& step) {
  const auto cost = cost_of(step);
  EXPECT_EQ(cost.mpi, calls);
  for (const auto& label : cost.tools.allocations) EXPECT_EQ(label.rfind("comm/", 0), 0u) << label;
  EXPECT_EQ(std::ranges::count(cost.tools.kernels, "comm/pack"), 1);
  EXPECT_EQ(std::ranges::count(cost.tools.kernels, "comm/unpack"), 1);
}

} // namespace kontor::comm::test
