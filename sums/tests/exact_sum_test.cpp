// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of one process: against expansions without overlap (which know no digits), in any order, by the kernels of
// a host and of a device.
#include "exact_reference.hpp"

#include <kontor/sums/local_sums.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace kontor::sums::test {
namespace {

using HostKernels = LocalSums<Kokkos::DefaultHostExecutionSpace, false>;
using DeviceKernels = LocalSums<Kokkos::DefaultExecutionSpace, true>;
using Digits = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
const double nan = std::numeric_limits<double>::quiet_NaN();

template <class Kernels>
Digits accumulator_of(const Numbers& values) {
  const typename Kernels::execution_space instance;
  using Memory = typename Kernels::memory_space;
  const Kokkos::View<double*, Kokkos::HostSpace> host("host", values.size());
  std::copy(values.begin(), values.end(), host.data());
  const auto x = Kokkos::create_mirror_view_and_copy(Memory(), host);
  Kernels sums(1);
  sums.add(instance, 0, static_cast<std::int64_t>(values.size()), detail::Element<decltype(x)>{x});
  const Kokkos::View<std::int64_t*, Memory> taken("taken", length);
  sums.take(instance, taken.data());
  Digits digits("digits", length);
  Kokkos::deep_copy(digits, taken);
  carry(digits.data());
  return digits;
}

Digits one_by_one(const Numbers& values) {
  Digits digits("digits", length);
  for (const double value : values) add_value(digits.data(), value);
  carry(digits.data());
  return digits;
}

void expect_sum(const Numbers& values, double sum) {
  const auto expected = one_by_one(values);
  EXPECT_EQ(bits(rounded(expected.data())), bits(sum)) << rounded(expected.data()) << " instead of " << sum;
  const auto on_host = accumulator_of<HostKernels>(values);
  const auto on_device = accumulator_of<DeviceKernels>(values);
  for (int i = 0; i < length; ++i) {
    ASSERT_EQ(on_host(i), expected(i)) << "kernel of a host, place " << i;
    ASSERT_EQ(on_device(i), expected(i)) << "kernel of a device, place " << i;
  }
}

TEST(ExactSum, OfFewValues) {
  const double next_to_1 = 1 + 0x1p-52;
  const std::vector<std::pair<Numbers, double>> cases{
      {{}, 0.0},
      {{0.0, 0.0}, 0.0},
      {{-0.0, -0.0}, 0.0}, // as said
      {{-0.0}, 0.0},
      {{1.0}, 1.0},
      {{-1.5}, -1.5},
      {{0.1, 0.2, 0.3}, 0.6}, // from left to right it is 0.6000000000000001
      {{1e308, 1, -1e308}, 1.0},
      {{1, 1e100, 1, -1e100}, 2.0},
      {{1e308, 1e308, -1e308, -1e308, 1e-300}, 1e-300},
      {{largest, largest, -largest}, largest},
      {{largest, largest}, infinity},
      {{-largest, -largest}, -infinity},
      {{largest, 0x1p970}, infinity}, // half of the last bit: to the even one, which is none
      {{largest, 0x1p970, -smallest}, largest},
      {{-largest, -0x1p970, smallest}, -largest},
      {{smallest}, smallest},
      {{smallest, smallest, -3 * smallest}, -smallest},
      {{0x1p-1022, -smallest}, 0x1p-1022 - smallest},
      {{0x1p-1022, smallest}, 0x1p-1022 + smallest},
      {{0x0.8p-1022, 0x0.8p-1022}, 0x1p-1022},
      {{0x1p1023, smallest, -0x1p1023}, smallest},
      {{1, 0x1p-53}, 1.0}, // halves go to the even one
      {{1, 0x1p-53, smallest}, next_to_1},
      {{1, 0x1p-53, -smallest}, 1.0},
      {{next_to_1, 0x1p-53}, 1 + 0x1p-51},
      {{next_to_1, 0x1p-53, -smallest}, next_to_1},
      {{-1, -0x1p-53}, -1.0},
      {{-next_to_1, -0x1p-53}, -1 - 0x1p-51},
      {{0x1p53, 1, 1}, 0x1p53 + 2},
      {{infinity}, infinity},
      {{infinity, -1, largest}, infinity},
      {{-infinity, 1}, -infinity},
      {{infinity, -infinity}, nan},
      {{nan, 1}, nan},
      {{-nan}, nan},
      {{infinity, nan}, nan},
  };
  for (auto [values, sum] : cases) {
    SCOPED_TRACE(testing::PrintToString(values));
    std::sort(values.begin(), values.end(), [](double a, double b) { return bits(a) < bits(b); });
    do expect_sum(values, sum);
    while (std::next_permutation(values.begin(), values.end(), [](double a, double b) { return bits(a) < bits(b); }));
  }
}

TEST(ExactSum, OfManyValuesInAnyOrder) {
  for (const auto& [lowest, highest] : {std::pair{-1, 1}, {-60, 60}, {-1074, -1000}, {-1074, 1010}, {900, 1012}})
    for (const int count : {1, 2, 511, 512, 513, 3000, 9000}) {
      SCOPED_TRACE(std::to_string(count) + " values of 2^" + std::to_string(lowest) + " to 2^" +
                   std::to_string(highest));
      auto values = random_values(static_cast<std::size_t>(count), lowest, highest, 7);
      const double sum = reference(values);
      expect_sum(values, sum);
      std::sort(values.begin(), values.end());
      expect_sum(values, sum);
      const auto twice = values.size();
      for (std::size_t i = 0; i < twice; ++i) values.push_back(-values[i]);
      values.push_back(smallest);
      expect_sum(values, smallest);
    }
}

/// Values just below the largest, more than a double can count, and growing ones.
TEST(ExactSum, OfLargeValues) {
  Numbers values(5000, largest);
  expect_sum(values, infinity);
  for (std::size_t i = 0; i < 5000; ++i) values.push_back(i % 2 == 0 ? -largest : -0x1p1020);
  for (std::size_t i = 0; i < 5000; ++i) values.push_back(i % 2 == 0 ? -largest : 0x1p1020);
  values.push_back(0.75);
  expect_sum(values, 0.75);
  values.clear();
  for (int e = -1074; e < 1023; ++e) values.push_back(std::ldexp(1, e));
  expect_sum(values, 0x1p1023);
}

TEST(ExactSum, OfManyEqualValues) {
  constexpr std::int64_t count = 10'000'000;
  const double tenth = 0.1;
  BlockSum sum;
  std::int64_t digits[length] = {};
  for (std::int64_t at = 0; at < count; at += BlockSum::room) {
    const auto n = std::min<std::int64_t>(BlockSum::room, count - at);
    std::fill_n(sum.values(), n, tenth);
    sum.add(static_cast<int>(n));
  }
  sum.move_to(digits);
  const auto mantissa = static_cast<__int128>(tenth * 0x1p56); // exact
  EXPECT_EQ(rounded(digits), static_cast<double>(mantissa * count) * 0x1p-56);
  // Blocks of which each takes several levels, more than have room in 64 bits.
  constexpr int blocks = 9 << 20;
  for (int n = 0; n < blocks; ++n) {
    sum.values()[0] = 0x1p206 - 0x1p166;
    sum.values()[1] = 0x1p-200;
    sum.add(2);
  }
  std::int64_t more[length] = {};
  sum.move_to(more);
  add_value(more, -9 * (0x1p226 - 0x1p186));
  EXPECT_EQ(rounded(more), 9 * 0x1p-180);
}

} // namespace
} // namespace kontor::sums::test
