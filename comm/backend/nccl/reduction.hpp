// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/nccl/library.hpp"

#include <kontor/comm/backend/backend.hpp>

#include <cstdint>
#include <optional>

namespace kontor::comm::nccl {

/// What to hand to NCCL for a reduction.
struct Reduction {
  ncclRedOp_t op;
  ncclDataType_t type;
  std::int64_t per_element; ///< items of that type in an element
};

/// Local. Nothing if NCCL does not have it: it has sum, product, min and max of integers of 1, 4 and 8 bytes,
/// float and double, and sum of their complex numbers.
std::optional<Reduction> reduction(Scalar, ReduceOp);

} // namespace kontor::comm::nccl
