// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/node.hpp"

namespace kontor::comm::shm {

using mpi::Node;
using mpi::Window;

/// Collective over the handle's communicator. Messages within the node lie in memory of the plan's own.
PlannedExchange make_plan(const BackendContext&, std::shared_ptr<Node>, const Schedule&);

} // namespace kontor::comm::shm
