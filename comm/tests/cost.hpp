// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "allocation_counter.hpp"
#include "mpi_counter.hpp"
#include "tools_recorder.hpp"

#include <ostream>

/// What a piece of code does besides its work.
namespace kontor::comm::test {

inline void PrintTo(const MpiCalls& calls, std::ostream* out) {
  for (const auto& [name, n] : calls) *out << name << " x " << n << "; ";
}

struct Cost {
  MpiCalls mpi;
  int allocations = 0;
  ToolsRecord tools;
};

/// Takes the step twice: with the counters, and with the tools, for which Kokkos itself allocates and fences.
template <class Step>
Cost cost_of(Step step) {
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

} // namespace kontor::comm::test
