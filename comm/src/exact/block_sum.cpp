// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/exact/block_sum.hpp>

#include <bit>
#include <cmath>

// The loop over a block is compiled for several processors, whatever the program is compiled for.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCC__)
#define KONTOR_EXACT_TARGETS
#endif

namespace kontor::comm::exact {
namespace {

struct Outcome {
  double sums[levels];
  double largest;     ///< size; what is not finite may be left out
  std::uint64_t left; ///< bits of what is left of the values; a NaN's if one was not finite
};

#if defined(__GNUC__)
[[gnu::always_inline]]
#endif
inline Outcome
divide(const double* values, int count, const Level* of) {
  static_assert(levels == 3);
  const Level a = of[0];
  const Level b = of[1];
  const Level c = of[2];
  double sum_a = 0;
  double sum_b = 0;
  double sum_c = 0;
  double largest = 0;
  std::uint64_t left = 0;
#pragma omp simd reduction(+ : sum_a, sum_b, sum_c) reduction(max : largest) reduction(| : left)
  for (int i = 0; i < count; ++i) {
    double x = values[i];
    const double size = std::abs(x);
    largest = size > largest ? size : largest;
    const double in_a = a.multiple(x);
    x -= in_a;
    const double in_b = b.multiple(x);
    x -= in_b;
    const double in_c = c.multiple(x);
    x -= in_c;
    sum_a += in_a;
    sum_b += in_b;
    sum_c += in_c;
    left |= std::bit_cast<std::uint64_t>(x);
  }
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return {{sum_a, sum_b, sum_c}, largest, left & ~sign};
}

using Divide = Outcome (*)(const double*, int, const Level*);

Outcome divide_anywhere(const double* values, int count, const Level* of) {
  return divide(values, count, of);
}

#if defined(KONTOR_EXACT_TARGETS)
[[gnu::target("avx2")]] Outcome divide_by_4(const double* values, int count, const Level* of) {
  return divide(values, count, of);
}
[[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]] Outcome
divide_by_8(const double* values, int count, const Level* of) {
  return divide(values, count, of);
}
Divide fastest() {
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return divide_by_8;
  return __builtin_cpu_supports("avx2") ? divide_by_4 : divide_anywhere;
}
#else
Divide fastest() {
  return divide_anywhere;
}
#endif

Outcome divide_here(const double* values, int count, const Level* of) {
  static const Divide fastest_one = fastest();
  return fastest_one(values, count, of);
}

double largest_of(const double* values, int count) {
  double largest = 0;
  for (int i = 0; i < count; ++i) {
    const double size = std::abs(values[i]);
    largest = size > largest ? size : largest;
  }
  return largest;
}

} // namespace

/// What comes now is divided as values of this size are.
void BlockSum::open(double largest) {
  const int exponent = exponent_of(largest);
  for (int n = 0; n < levels; ++n) levels_[n] = level(exponent, n);
  limit_ = from_bits(static_cast<std::uint64_t>(exponent + 1) << 52);
  largest_ = 0;
}

void BlockSum::add_sum(double sum, int scale) {
  split(sum, scale, [&](int place, std::int64_t number) { sum_[place] += number; });
}

void BlockSum::close() {
  for (double& sum : sums_) {
    add_sum(sum, 0);
    sum = 0;
  }
  summed_ = 0;
}

/// Most blocks are like those before: one pass, by the same levels. Digits of a block are below 2^42 (several
/// levels reach into one), so that 2^20 blocks fit.
void BlockSum::add(int count) {
  constexpr double too_large = 0x1p1012; // 2^(largest_exponent - 1022)
  static_assert(largest_exponent - 1022 == 1012);
  if (++added_ > std::int64_t{1} << 20) {
    carry(sum_);
    added_ = 1;
  }
  if (summed_ + count > most_in_level) {
    close();
    open(largest_);
  }
  auto outcome = divide_here(values_, count, levels_);
  if (outcome.largest >= limit_ && outcome.largest < too_large) {
    close();
    open(outcome.largest);
    outcome = divide_here(values_, count, levels_);
  }
  if (outcome.largest >= limit_ || outcome.left != 0) return add_by_levels(count);
  for (int n = 0; n < levels; ++n) sums_[n] += outcome.sums[n];
  largest_ = outcome.largest > largest_ ? outcome.largest : largest_;
  summed_ += count;
}

/// Any values, level by level until nothing is left.
void BlockSum::add_by_levels(int count) {
  for (int i = 0; i < count; ++i)
    if (!std::isfinite(values_[i])) {
      add_sum(values_[i], 0);
      values_[i] = 0;
    }
  for (double largest = largest_of(values_, count); largest > 0; largest = largest_of(values_, count)) {
    const int exponent = exponent_of(largest);
    const bool scaled = exponent > largest_exponent;
    const int scale = scaled ? scaled_by : 0;
    for (int n = 0; n < (scaled ? 1 : levels); ++n) {
      const Level next = level(exponent - scale, n);
      double sum = 0;
      for (int i = 0; i < count; ++i) sum += take_multiple(next, scaled, values_[i]);
      add_sum(sum, scale);
    }
  }
}

void BlockSum::move_to(std::int64_t* accumulator) {
  close();
  carry(sum_);
  for (int i = 0; i < length; ++i) {
    accumulator[i] += sum_[i];
    sum_[i] = 0;
  }
  carry(accumulator);
  added_ = 0;
}

} // namespace kontor::comm::exact
