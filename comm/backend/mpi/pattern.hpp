// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/mpi/message.hpp"

#include <memory>

/// The patterns of comm::Pattern: one function and one file each. All are collective over the communicator;
/// only neighborhood and rma talk to other ranks to make a plan.
namespace kontor::comm::mpi {

std::unique_ptr<Plan> make_blocking(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_nonblocking(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_persistent(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_neighborhood(const BackendContext&, MessageSet);

/// The receives land in a window of the plan's own.
PlannedExchange make_rma(const BackendContext&, const Schedule&);

/// The one that the schedule names.
PlannedExchange make_plan(const BackendContext&, const Schedule&);

} // namespace kontor::comm::mpi
