// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/backend.hpp>

namespace kontor::comm {

const char* to_string(ReduceOp op) {
  switch (op) {
  case ReduceOp::sum: return "sum";
  case ReduceOp::product: return "product";
  case ReduceOp::min: return "min";
  case ReduceOp::max: return "max";
  case ReduceOp::logical_and: return "logical and";
  case ReduceOp::logical_or: return "logical or";
  case ReduceOp::logical_xor: return "logical xor";
  case ReduceOp::bitwise_and: return "bitwise and";
  case ReduceOp::bitwise_or: return "bitwise or";
  case ReduceOp::bitwise_xor: return "bitwise xor";
  }
  return "unknown operation";
}

} // namespace kontor::comm
