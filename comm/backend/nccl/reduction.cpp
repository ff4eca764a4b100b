// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/nccl/reduction.hpp"

namespace kontor::comm::nccl {
namespace {

std::optional<ncclDataType_t> number(ScalarKind kind, std::uint32_t size) {
  const bool is_signed = kind == ScalarKind::signed_integer;
  switch (kind) {
  case ScalarKind::signed_integer:
  case ScalarKind::unsigned_integer:
    if (size == 1) return is_signed ? ncclInt8 : ncclUint8;
    if (size == 4) return is_signed ? ncclInt32 : ncclUint32;
    if (size == 8) return is_signed ? ncclInt64 : ncclUint64;
    break;
  case ScalarKind::floating:
    if (size == sizeof(float)) return ncclFloat32;
    if (size == sizeof(double)) return ncclFloat64;
    break;
  case ScalarKind::complex:
  case ScalarKind::bytes: break;
  }
  return std::nullopt;
}

std::optional<ncclRedOp_t> operation(ReduceOp op) {
  switch (op) {
  case ReduceOp::sum: return ncclSum;
  case ReduceOp::product: return ncclProd;
  case ReduceOp::min: return ncclMin;
  case ReduceOp::max: return ncclMax;
  default: return std::nullopt;
  }
}

} // namespace

std::optional<Reduction> reduction(Scalar scalar, ReduceOp op) {
  const auto [kind, size] = scalar;
  const bool pairs = kind == ScalarKind::complex && op == ReduceOp::sum;
  const auto type = pairs ? number(ScalarKind::floating, size / 2) : number(kind, size);
  const auto named = operation(op);
  if (!type || !named) return std::nullopt;
  return Reduction{*named, *type, pairs ? 2 : 1};
}

} // namespace kontor::comm::nccl
