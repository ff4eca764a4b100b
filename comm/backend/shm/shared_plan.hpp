// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/shm/node.hpp"

#include <kontor/comm/backend/backend.hpp>

#include <memory>

namespace kontor::comm::shm {

/// Collective over the handle's communicator. Messages within the node lie in memory of the plan's own.
PlannedExchange make_plan(const BackendContext&, std::shared_ptr<Node>, const Schedule&);

} // namespace kontor::comm::shm
