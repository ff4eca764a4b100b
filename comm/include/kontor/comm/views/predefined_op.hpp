// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kontor::comm {

/// The reductions that MPI has by name. Sum and product take every arithmetic type and complex numbers, min and max
/// every arithmetic type, the logical and bitwise ones integers.
enum class ReduceOp {
  sum,
  product,
  min,
  max,
  logical_and,
  logical_or,
  logical_xor,
  bitwise_and,
  bitwise_or,
  bitwise_xor
};

/// "sum", "logical and"
const char* to_string(ReduceOp);

} // namespace kontor::comm
