// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(_M_FP_FAST) || __FINITE_MATH_ONLY__ > 0
#error                                                                                                                 \
    "kontor::sums: exact sums need arithmetic as it is written; compile this file without -ffast-math, -fassociative-math, -ffinite-math-only and /fp:fast, or include the headers that are used instead of <kontor/comm/comm.hpp>"
#endif

/// Exact sums of doubles. An *accumulator* is an integer wide enough for every double and every sum of them, in
/// `digits` digits of `digit_bits` bits: digit d counts multiples of 2^(d digit_bits - 1074), the smallest double being
/// 2^-1074. Digits are signed 64-bit numbers with room above: accumulators are added digit by digit, in any order, and
/// a sum is rounded once, in the end. (U. Kulisch, Computer Arithmetic and Validity, de Gruyter 2008.)
namespace kontor::sums {

/// The bits of a digit, and how many digits there are.
inline constexpr int digit_bits = 40;
inline constexpr int digits = 53; ///< of an accumulator

/// After the digits come the numbers of values that are not finite.
enum Place { place_of_nan = digits, place_of_plus_infinity, place_of_minus_infinity };

/// Numbers in an accumulator.
inline constexpr int length = digits + 3;

/// Local. The bits of a double: sign, 11 of the exponent, 52 of the mantissa.
KOKKOS_INLINE_FUNCTION std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
/// Local. The double that has these bits.
KOKKOS_INLINE_FUNCTION double from_bits(std::uint64_t bits) {
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}
/// Local. The exponent in the bits: 0 of denormal numbers and 0, 2047 of what is not finite.
KOKKOS_INLINE_FUNCTION int exponent_of(double value) { return static_cast<int>(bits_of(value) >> 52 & 0x7ff); }

/// Local. Calls add(place, number) for what value 2^scale, with scale at least 0, adds to an accumulator: up to three
/// digits of less than 2^digit_bits, or a 1 if it is not finite.
template <class Add>
KOKKOS_INLINE_FUNCTION void split(double value, int scale, const Add& add) {
  const std::uint64_t bits = bits_of(value);
  const int exponent = exponent_of(value);
  const std::uint64_t fraction = bits & 0xfffffffffffffu;
  const bool negative = bits >> 63 != 0;
  if (exponent == 0x7ff) {
    add(fraction != 0 ? place_of_nan : negative ? place_of_minus_infinity : place_of_plus_infinity, 1);
    return;
  }
  const std::uint64_t mantissa = exponent > 0 ? fraction | std::uint64_t{1} << 52 : fraction;
  const int bit = (exponent > 0 ? exponent - 1 : 0) + scale;
  const int first = bit / digit_bits;
  const int shift = bit - first * digit_bits;
  constexpr std::uint64_t mask = (std::uint64_t{1} << digit_bits) - 1;
  const auto put = [&](int place, std::uint64_t digit) {
    const auto number = static_cast<std::int64_t>(digit);
    if (digit != 0) add(place, negative ? -number : number);
  };
  put(first, mantissa << shift & mask);
  put(first + 1, mantissa >> (digit_bits - shift) & mask);
  if (shift > 2 * digit_bits - 53) put(first + 2, mantissa >> (2 * digit_bits - shift));
}

/// Local. Adds a value to an accumulator. 2^22 values may follow each other before carry().
KOKKOS_INLINE_FUNCTION void add_value(std::int64_t* accumulator, double value) {
  split(value, 0, [&](int place, std::int64_t number) { accumulator[place] += number; });
}

/// Local. What a digit has above digit_bits, rounded, and what is left of it then, at most 2^(digit_bits - 1).
KOKKOS_INLINE_FUNCTION std::int64_t carry_of(std::int64_t digit) {
  return (digit + (std::int64_t{1} << (digit_bits - 1))) >> digit_bits;
}
/// Local. See carry_of().
KOKKOS_INLINE_FUNCTION std::int64_t rest_of(std::int64_t digit) {
  return digit - carry_of(digit) * (std::int64_t{1} << digit_bits);
}

/// Local. The same number, with digits of at most 2^(digit_bits - 1): two million accumulators can be added then.
KOKKOS_INLINE_FUNCTION void carry(std::int64_t* accumulator) {
  std::int64_t carried = 0;
  for (int d = 0; d + 1 < digits; ++d) {
    const std::int64_t digit = accumulator[d] + carried;
    carried = carry_of(digit);
    accumulator[d] = rest_of(digit);
  }
  accumulator[digits - 1] += carried;
}

namespace detail {

/// The leading digits of sign times a number, each at least 0 and below 2^digit_bits.
struct Leading {
  std::int64_t above = 0; ///< of the digits: below 0 if the number is; above 0 if it is too large for a double
  int place = -1;         ///< of the first digit that is not 0; -1: the number is 0
  std::uint64_t first = 0, second = 0, third = 0;
  bool more = false; ///< a digit below them is not 0
};

KOKKOS_INLINE_FUNCTION Leading leading(const std::int64_t* accumulator, int sign) {
  Leading result;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  bool more = false;
  for (int d = 0; d < digits; ++d) {
    const std::int64_t sum = sign * accumulator[d] + result.above;
    result.above = sum >> digit_bits;
    const auto digit = static_cast<std::uint64_t>(sum) & ((std::uint64_t{1} << digit_bits) - 1);
    if (digit != 0) {
      result.place = d;
      result.first = digit;
      result.second = second;
      result.third = third;
      result.more = more;
    }
    more = more || third != 0;
    third = second;
    second = digit;
  }
  return result;
}

/// The double next to it, of two the even one.
KOKKOS_INLINE_FUNCTION double rounded(const Leading& number) {
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 52;
  if (number.above > 0) return from_bits(infinity);
  if (number.place < 0) return 0;
  int width = 0; // of the first digit
  while (width < digit_bits && number.first >> width != 0) ++width;
  // The 64 leading bits, and whether there are others.
  std::uint64_t bits = number.first << (64 - width);
  bool more = number.more;
  const int second_at = 64 - width - digit_bits; // where bit 0 of the second digit goes
  if (second_at >= 0) {
    bits |= number.second << second_at;
    bits |= number.third >> (digit_bits - second_at);
    more = more || number.third << (64 - digit_bits + second_at) != 0;
  } else {
    bits |= number.second >> -second_at;
    more = more || number.second << (64 + second_at) != 0 || number.third != 0;
  }
  const int place_of_lead = number.place * digit_bits + width - 1; // counted from 2^-1074
  if (place_of_lead > 2097) return from_bits(infinity);
  const int kept = place_of_lead < 52 ? place_of_lead + 1 : 53;
  std::uint64_t mantissa = bits >> (64 - kept);
  const std::uint64_t cut = bits << kept;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  if (cut > half || (cut == half && (more || (mantissa & 1) != 0))) ++mantissa;
  if (place_of_lead < 52) return from_bits(mantissa); // denormal: nothing was cut
  const auto exponent = static_cast<std::uint64_t>(place_of_lead - 51);
  return from_bits((exponent << 52) + mantissa - (std::uint64_t{1} << 52)); // a carry goes to the exponent
}

} // namespace detail

/// Local. The double next to the number in an accumulator, of two the even one: infinity if it is too large, and 0,
/// never -0, if it is 0. With values that are not finite it is what adding them gives, any NaN being the same one.
KOKKOS_INLINE_FUNCTION double rounded(const std::int64_t* accumulator) {
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 52;
  constexpr std::uint64_t minus = std::uint64_t{1} << 63;
  const bool plus_infinity = accumulator[place_of_plus_infinity] != 0;
  const bool minus_infinity = accumulator[place_of_minus_infinity] != 0;
  if (accumulator[place_of_nan] != 0 || (plus_infinity && minus_infinity))
    return from_bits(infinity | std::uint64_t{1} << 51);
  if (plus_infinity) return from_bits(infinity);
  if (minus_infinity) return from_bits(infinity | minus);
  const auto number = detail::leading(accumulator, 1);
  if (number.above >= 0) return detail::rounded(number);
  return -detail::rounded(detail::leading(accumulator, -1));
}

/// Bits of a value that are taken at a time, as a multiple of a power of two; such multiples of a number of values are
/// added as doubles without an error.
inline constexpr int level_bits = 41;
inline constexpr int most_in_level = 4096; ///< values whose multiples are added: 2^(53 - level_bits)

/// How a value is divided into multiples of a power of two, its unit, and what is left, at most half of it: q = (S + x)
/// - S without an error, x - q as well. (J. Demmel and H. D. Nguyen, Parallel Reproducible Summation, IEEE Transactions
/// on Computers 64, 2015.)
struct Level {
  double shift; ///< S

  /// Local. The multiple of the unit that is next to `x`.
  KOKKOS_INLINE_FUNCTION double multiple(double x) const { return (shift + x) - shift; }
};

/// The largest exponent in the bits of values whose first level is not too large for a double.
inline constexpr int largest_exponent = 2046 - (53 - level_bits);

/// Local. The n-th level of values whose exponents in their bits are at most `exponent`, at most largest_exponent:
/// their multiples of its unit are at most 2^level_bits.
KOKKOS_INLINE_FUNCTION Level level(int exponent, int n) {
  int e = (exponent > 0 ? exponent : 1) + 53 - (n + 1) * level_bits;
  if (e < 1) e = 1; // its unit is the smallest double, and nothing is left
  return {from_bits(static_cast<std::uint64_t>(e) << 52 | std::uint64_t{1} << 51)};
}

/// What is done at a time: together they are enough for most values.
inline constexpr int levels = 3;

/// Values with larger exponents are divided after a multiplication by 2^-scaled_by.
inline constexpr int scaled_by = 64;

/// Local. Takes 2^scaled_by multiples of the level's unit from a value and returns them without that factor: rounding
/// the largest numbers up would make them infinite.
KOKKOS_INLINE_FUNCTION double take_multiple(const Level& level, double& value) {
  const double scaled = value * 0x1p-64; // where that is not exact the multiple is 0
  const double multiple = level.multiple(scaled);
  if (multiple != 0) value = (scaled - multiple) * 0x1p64;
  return multiple;
}

} // namespace kontor::sums
