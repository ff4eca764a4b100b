// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "random/counter_random.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

/// What elements and vectors are made of random bits.
namespace kontor::matmul {

using random::bits_at;
using random::uniform;

/// The largest integer of matrices of integers.
inline constexpr int largest_integer = 4;

/// From -largest_integer to largest_integer.
KOKKOS_INLINE_FUNCTION int small_integer(std::uint64_t bits) {
  return static_cast<int>((bits >> 32) % (2 * largest_integer + 1)) - largest_integer;
}

/// The largest entry of vectors that a product is verified with.
inline constexpr int largest_entry = 2047;

/// From 1024 to 2047, with a sign: each entry counts, and no two errors cancel but by chance.
KOKKOS_INLINE_FUNCTION double vector_entry(std::uint64_t bits) {
  const auto size = static_cast<double>(1024 + (bits >> 32) % 1024);
  return (bits & 1) != 0 ? size : -size;
}

} // namespace kontor::matmul
