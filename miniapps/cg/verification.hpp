// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/linear_system.hpp"
#include "cg/solver/operator.hpp"
#include "cg/solver/solver.hpp"
#include "run/result.hpp"

namespace kontor::cg {

/// Collective. The true residual of a solution beside what the recurrence says, and its error where the
/// solution is known.
miniapp::Verification verify(const comm::Communicator&, const LinearSystem&, Operator&,
                             stepping::Streams<Space>&, const SolverOptions&, const Outcome&,
                             const Vector& solution);

} // namespace kontor::cg
