// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ipc/memory.hpp"
#include "support/backend_context.hpp"

#include <kontor/comm/backend.hpp>

#include <memory>

namespace kontor::comm::ipc {

/// Collective over the handle's communicator. Throws UsageError on every rank if one of them cannot let its
/// sources write into its Views, or cannot reach those of its destinations.
std::unique_ptr<Plan> make_plan(const BackendContext&, const Gpus&, const Schedule&);

} // namespace kontor::comm::ipc
