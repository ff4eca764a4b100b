// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "random/counter_random.hpp"

#include <bit>
#include <cstdint>
#include <utility>

namespace kontor::mesh {

/// A random order of the numbers [0, count) and its inverse, without a table: four rounds of a Feistel network on the
/// next power of four, repeated until the number is in range.
class Permutation {
 public:
  Permutation(std::int64_t count, std::uint64_t seed) : count_(count), seed_(seed) {
    bits_ = (std::bit_width(static_cast<std::uint64_t>(count)) + 1) / 2;
  }

  std::int64_t operator()(std::int64_t number) const {
    do {
      auto [left, right] = halves(number);
      for (int round = 0; round < rounds; ++round) left = std::exchange(right, left ^ scrambled(round, right));
      number = joined(left, right);
    } while (number >= count_);
    return number;
  }

  std::int64_t inverse(std::int64_t number) const {
    do {
      auto [left, right] = halves(number);
      for (int round = rounds; round-- > 0;) right = std::exchange(left, right ^ scrambled(round, left));
      number = joined(left, right);
    } while (number >= count_);
    return number;
  }

 private:
  static constexpr int rounds = 4;

  std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }
  std::pair<std::uint64_t, std::uint64_t> halves(std::int64_t number) const {
    const auto bits = static_cast<std::uint64_t>(number);
    return {bits >> bits_, bits & mask()};
  }
  std::int64_t joined(std::uint64_t left, std::uint64_t right) const {
    return static_cast<std::int64_t>(left << bits_ | right);
  }
  std::uint64_t scrambled(int round, std::uint64_t half) const {
    return random::bits_at(seed_, round, static_cast<std::int64_t>(half)) & mask();
  }

  std::int64_t count_;
  std::uint64_t seed_;
  int bits_;
};

} // namespace kontor::mesh
