// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/method.hpp"

namespace kontor::cg {

/// What a method resumes from between two iterations: the end of the last one has been written down, whether on a host
/// or a device, and no sum is under way.
struct SolverState {
  std::int64_t iterations = 0;
  std::vector<SolverStateVector> vectors = {};
  IterationState state = {};
  CgScalars numbers = {};
  std::vector<LogEntry> made = {};    ///< from iteration 0 on
  std::vector<double> counts = {};    ///< what the method's record tells of the iterations so far
  std::vector<double> estimates = {}; ///< of the preconditioner
};

} // namespace kontor::cg
