// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/sums/block_sum.hpp>

#include <bit>
#include <cmath>

// The loop over a block is compiled for several processors, whatever the program is compiled for.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCC__)
#define KONTOR_EXACT_TARGETS
#endif

namespace kontor::sums {
namespace {

struct Outcome {
  double sums[levels];
  double largest;     ///< size of the values, or of what is left where that is stored; not of a NaN
  std::uint64_t left; ///< bits of what is left of the values; a NaN's if one was not finite
};

/// Sums of the values' multiples; `store`: the values become what is left of them.
template <bool store>
[[gnu::always_inline]] inline Outcome divide(double* values, int count, const Level* of) {
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
    const double x = values[i];
    const double in_a = a.multiple(x);
    const double after_a = x - in_a;
    const double in_b = b.multiple(after_a);
    const double after_b = after_a - in_b;
    const double in_c = c.multiple(after_b);
    const double after_c = after_b - in_c;
    sum_a += in_a;
    sum_b += in_b;
    sum_c += in_c;
    if constexpr (store) values[i] = after_c;
    const double size = std::abs(store ? after_c : x);
    largest = size > largest ? size : largest;
    left |= std::bit_cast<std::uint64_t>(after_c);
  }
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return {{sum_a, sum_b, sum_c}, largest, left & ~sign};
}

using Divide = Outcome (*)(double*, int, const Level*);

template <bool store>
Outcome divide_anywhere(double* values, int count, const Level* of) {
  return divide<store>(values, count, of);
}

#if defined(KONTOR_EXACT_TARGETS)
template <bool store>
[[gnu::target("avx2")]] Outcome divide_by_4(double* values, int count, const Level* of) {
  return divide<store>(values, count, of);
}
template <bool store>
[[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]] Outcome divide_by_8(double* values, int count,
                                                                                         const Level* of) {
  return divide<store>(values, count, of);
}
template <bool store>
Divide fastest() {
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return divide_by_8<store>;
  return __builtin_cpu_supports("avx2") ? divide_by_4<store> : divide_anywhere<store>;
}
#else
template <bool store>
Divide fastest() {
  return divide_anywhere<store>;
}
#endif

template <bool store>
Outcome divide_here(double* values, int count, const Level* of) {
  static const Divide chosen = fastest<store>();
  return chosen(values, count, of);
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

/// Most blocks are like those before: one pass, by the same levels. Digits of a block are below 2^42 (several levels
/// reach into one), so that 2^20 blocks fit.
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
  auto outcome = divide_here<false>(values_, count, levels_);
  if (outcome.largest >= limit_ && outcome.largest < too_large) {
    close();
    open(outcome.largest);
    outcome = divide_here<false>(values_, count, levels_);
  }
  if (outcome.largest >= limit_ || outcome.left != 0) return add_by_levels(count, outcome.largest, outcome.left);
  for (int n = 0; n < levels; ++n) sums_[n] += outcome.sums[n];
  largest_ = outcome.largest > largest_ ? outcome.largest : largest_;
  summed_ += count;
}

/// Any values, level by level until nothing is left. Given are the size of the largest, and bits that are not those of
/// an infinity or NaN if all are finite.
void BlockSum::add_by_levels(int count, double largest, std::uint64_t bits) {
  if ((bits >> 52 & 0x7ff) == 0x7ff) {
    for (int i = 0; i < count; ++i)
      if (!std::isfinite(values_[i])) {
        add_sum(values_[i], 0);
        values_[i] = 0;
      }
    largest = largest_of(values_, count);
  }
  while (largest > 0) {
    const int exponent = exponent_of(largest);
    if (exponent > largest_exponent) {
      const Level first = level(exponent - scaled_by, 0);
      double sum = 0;
      for (int i = 0; i < count; ++i) sum += take_multiple(first, values_[i]);
      add_sum(sum, scaled_by);
      largest = largest_of(values_, count);
      continue;
    }
    const Level of[levels] = {level(exponent, 0), level(exponent, 1), level(exponent, 2)};
    const auto outcome = divide_here<true>(values_, count, of);
    for (const double sum : outcome.sums) add_sum(sum, 0);
    largest = outcome.largest;
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

} // namespace kontor::sums
