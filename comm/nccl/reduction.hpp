// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>

#include <nccl.h>

namespace kontor::comm::nccl {

/// What to hand to NCCL for a reduction.
struct Reduction {
  ncclRedOp_t op;
  ncclDataType_t type;
  std::size_t count; ///< of items of that type
};

/// Local. Throws CallError, with what can be done instead, if NCCL does not have it.
Reduction reduction(const Buffer&, ReduceOp);

} // namespace kontor::comm::nccl
