// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/nccl/nccl_comm.hpp"

#include <kontor/comm/backend/backend.hpp>

#include <memory>

namespace kontor::comm::nccl {

/// Local.
std::unique_ptr<StreamCollectives> make_stream_collectives(std::shared_ptr<NcclComm>);

} // namespace kontor::comm::nccl
