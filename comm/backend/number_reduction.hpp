// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/buffer.hpp>
#include <kontor/comm/views/predefined_op.hpp>

#include <optional>

/// Reductions of plain numbers, which is what GPU libraries and kernels have. No MPI in this file.
namespace kontor::comm {

/// What a number is.
enum class NumberType : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

/// A reduction, element by element, of `count` numbers: their sum, product, min or max.
struct NumberReduction {
  NumberType type;
  ReduceOp op;
  std::int64_t count;
};

inline std::optional<NumberType> number_type(Scalar scalar) {
  using enum NumberType;
  const bool is_signed = scalar.kind == ScalarKind::signed_integer;
  if (is_signed || scalar.kind == ScalarKind::unsigned_integer) {
    if (scalar.size == 1) return is_signed ? int8 : uint8;
    if (scalar.size == 2) return is_signed ? int16 : uint16;
    if (scalar.size == 4) return is_signed ? int32 : uint32;
    if (scalar.size == 8) return is_signed ? int64 : uint64;
  }
  if (scalar.kind == ScalarKind::floating) {
    if (scalar.size == sizeof(float)) return float32;
    if (scalar.size == sizeof(double)) return float64;
  }
  return std::nullopt;
}

/// Nothing if it is none of numbers. Complex numbers are pairs, which a sum does not mix.
inline std::optional<NumberReduction> number_reduction(Scalar scalar, ReduceOp op, std::int64_t elements) {
  const bool pairs = scalar.kind == ScalarKind::complex && op == ReduceOp::sum;
  const auto type = number_type(pairs ? Scalar{ScalarKind::floating, scalar.size / 2} : scalar);
  const bool has_op = op == ReduceOp::sum || op == ReduceOp::product || op == ReduceOp::min || op == ReduceOp::max;
  if (!type || !has_op) return std::nullopt;
  return NumberReduction{*type, op, pairs ? 2 * elements : elements};
}

} // namespace kontor::comm
