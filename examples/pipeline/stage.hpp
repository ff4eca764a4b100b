// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

/// Blocks of numbers that go through one stage after the other. The order of stages matters, that of blocks does not.
using Block = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

inline constexpr int blocks = 16;
inline constexpr int block_size = 500;

inline std::int64_t at_stage(int stage, std::int64_t value) { return (3 * value + stage) % 1000003; }

inline Block new_block(int number) {
  const Block block("block", block_size);
  for (int i = 0; i < block_size; ++i) block(i) = number * block_size + i;
  return block;
}

inline void work(int stage, const Block& block) {
  for (int i = 0; i < block_size; ++i) block(i) = at_stage(stage, block(i));
}

inline std::int64_t checksum(const Block& block) {
  std::int64_t sum = 0;
  for (int i = 0; i < block_size; ++i) sum += block(i);
  return sum;
}

/// The sum of all checksums by way of a single rank.
inline std::int64_t expected(int stages) {
  std::int64_t sum = 0;
  for (int number = 0; number < blocks; ++number) {
    const Block block = new_block(number);
    for (int stage = 0; stage < stages; ++stage) work(stage, block);
    sum += checksum(block);
  }
  return sum;
}
