// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/linear_system.hpp"
#include "cg/options.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/solver/operator.hpp"
#include "cg/solver/solver.hpp"
#include "run/result.hpp"

namespace kontor::cg {

/// Collective. The true residual of a solution beside what the recurrence says; where that passes, the error
/// beside the known solution, if there is one and a bound for it. Before both, whether the matrix and the
/// preconditioner, null if there is none, are symmetric.
miniapp::Verification verify(const comm::Communicator&, const LinearSystem&, Operator&,
                             stepping::Streams<Space>&, const Options&, const Outcome&,
                             const Vector& solution, Preconditioner*);

} // namespace kontor::cg
