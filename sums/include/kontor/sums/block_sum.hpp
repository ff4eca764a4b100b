// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/sums/accumulator.hpp>

#include <cstdint>

namespace kontor::sums {

/// The exact sum of many values on the host, block by block: the caller writes up to `room` values to values() and
/// calls add(). Vectorised for the processor that it runs on.
class BlockSum {
 public:
  static constexpr int room = 512; ///< values of a block

  /// Where the next block's values go.
  double* values() { return values_; }

  /// Local. Adds the first `count` of values(), which are spoiled.
  void add(int count);

  /// Local. Adds the sum to an accumulator, both of moderate digits as carry() leaves them, which the result has too.
  /// This is 0 then.
  void move_to(std::int64_t* accumulator);

 private:
  void open(double largest);
  void close();
  void add_by_levels(int count, double largest, std::uint64_t bits);
  void add_sum(double sum, int scale);

  alignas(64) double values_[room]{};
  Level levels_[levels]{};     ///< of the blocks that are added up
  double sums_[levels]{};      ///< their multiples
  double limit_ = 0;           ///< their values are smaller
  double largest_ = 0;         ///< of their values
  int summed_ = 0;             ///< how many values they are
  std::int64_t added_ = 0;     ///< blocks since the last carry
  std::int64_t sum_[length]{}; ///< of those before
};

} // namespace kontor::sums
