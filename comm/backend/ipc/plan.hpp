// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"
#include "backend/ipc/memory.hpp"
#include "backend/start_order.hpp"

#include <kontor/comm/backend/backend.hpp>

namespace kontor::comm::ipc {

/// Collective over the handle's communicator. Throws UsageError on every rank if one of them cannot let its sources
/// write into its Views, or cannot reach those of its destinations.
std::unique_ptr<Plan> make_plan(const BackendContext&, const Gpus&, const Schedule&, std::shared_ptr<mpi::StartOrder>);

/// Collective over the handle's communicator. Null on every rank if there are more ranks than have mailboxes, or if one
/// of them cannot reach another.
std::unique_ptr<StreamCollectives> make_stream_collectives(const BackendContext&, const Gpus&);

} // namespace kontor::comm::ipc
