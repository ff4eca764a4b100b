// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/linear_system.hpp"
#include "cg/options.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/solver/operator.hpp"
#include "cg/solver/solver.hpp"
#include "run/result.hpp"

#include <optional>

namespace kontor::cg {

/// How near a solution is, over all rows.
struct Accuracy {
  double residual = 0;                       ///< |b - A x| beside |b|
  std::optional<double> error = {};          ///< |x - exact| over the root of the rows
  std::optional<double> relative_error = {}; ///< |x - exact| beside |exact|, or as it is if that is 0
};

/// Collective. The true residual of a solution beside what the recurrence says; where that passes, the error
/// beside the known solution, if there is one and a bound for it. Before both, whether the matrix and the
/// preconditioner, null if there is none, are symmetric. All that is found is put into `found`.
miniapp::Verification verify(const comm::Communicator&, const LinearSystem&, Operator&,
                             stepping::Streams<Space>&, const Options&, const Outcome&,
                             const Vector& solution, Preconditioner*, Accuracy* found = nullptr);

} // namespace kontor::cg
