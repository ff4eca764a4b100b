// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/nccl/nccl_comm.hpp"

#include <kontor/comm/backend/backend.hpp>

#include <memory>

namespace kontor::comm::nccl {

/// Collective over the ranks of the nccl_comm. The schedule's stream must outlive the plan.
std::unique_ptr<Plan> make_plan(std::shared_ptr<NcclComm>, const Schedule&);

} // namespace kontor::comm::nccl
