// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/operator.hpp"
#include "cg/solver_options.hpp"

namespace kontor::cg {

/// What a method works with; outlives it.
struct Workspace : DistributedMatrix, Execution {
  const SolverOptions& options;
  const Vector& rhs;
  const Vector& initial; ///< guess; empty: 0
};

} // namespace kontor::cg
