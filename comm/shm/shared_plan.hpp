// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "shm/node.hpp"

#include <kontor/comm/backend.hpp>

#include <memory>

namespace kontor::comm::shm {

/// Collective over the handle's communicator. Fills in where the messages within the node lie.
std::unique_ptr<Plan> make_plan(const BackendContext&, std::shared_ptr<Node>, Schedule&);

} // namespace kontor::comm::shm
