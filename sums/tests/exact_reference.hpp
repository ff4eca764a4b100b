// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

/// Sums of doubles by another method than that under test.
namespace kontor::sums::test {

using Numbers = std::vector<double>;

inline std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// J. R. Shewchuk's expansions, as math.fsum() of Python has them: the sum rounded once. No sum on the way may
/// overflow.
inline double reference(const Numbers& values) {
  Numbers parts; // of growing size, without common bits
  for (double x : values) {
    std::size_t kept = 0;
    for (double y : parts) {
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0) parts[kept++] = low;
      x = high;
    }
    parts.resize(kept);
    parts.push_back(x);
  }
  if (parts.empty()) return 0;
  double high = parts.back();
  double low = 0;
  auto n = parts.size() - 1;
  while (n > 0 && low == 0) {
    const double x = high;
    const double y = parts[--n];
    high = x + y;
    low = y - (high - x);
  }
  if (n > 0 && ((low < 0 && parts[n - 1] < 0) || (low > 0 && parts[n - 1] > 0))) { // beyond the middle of two
    const double twice = 2 * low;
    const double other = high + twice;
    if (twice == other - high) high = other;
  }
  return high + 0.0; // 0 is positive
}

/// Values whose exponents lie in a range.
inline Numbers random_values(std::size_t count, int lowest, int highest, unsigned seed) {
  std::mt19937_64 random(seed);
  Numbers values(count);
  for (double& value : values) {
    const auto r = random();
    const auto exponent = lowest + static_cast<int>(r % static_cast<unsigned>(highest - lowest + 1));
    value = std::ldexp(1 + static_cast<double>(r >> 20 & 0xfffffffffff) * 0x1p-44, exponent);
    if (r >> 11 & 1) value = -value;
  }
  return values;
}

} // namespace kontor::sums::test
