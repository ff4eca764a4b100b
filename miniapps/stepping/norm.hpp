// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>

namespace kontor::stepping {

/// Which norm a step computes on the way, if any. What goes through kernels and between ranks are its parts: the
/// largest size of some values, or the sum of their squares.
enum class Norm { none, max, l2 };

/// Two parts put together.
template <Norm norm>
KOKKOS_INLINE_FUNCTION double joined(double a, double b) {
  if constexpr (norm == Norm::max) return a > b ? a : b;
  return a + b;
}

/// How ranks put their parts together.
inline comm::ReduceOp reduce_op(Norm norm) { return norm == Norm::max ? comm::ReduceOp::max : comm::ReduceOp::sum; }

/// The norm from the part of all, and the other way round.
inline double from_parts(Norm norm, double part) { return norm == Norm::max ? part : std::sqrt(part); }
inline double to_parts(Norm norm, double value) { return norm == Norm::max ? value : value * value; }

} // namespace kontor::stepping
