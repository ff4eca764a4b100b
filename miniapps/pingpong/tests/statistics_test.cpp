// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "timing/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace {

using namespace kontor::timing;
using Bounds = std::pair<std::size_t, std::size_t>;

TEST(Summary, OfFewValues) {
  const auto s = summarise({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.repetitions, 8);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.standard_error, std::sqrt(32.0 / 7 / 8));
  EXPECT_DOUBLE_EQ(s.median, 4.5);
  EXPECT_DOUBLE_EQ(s.min, 2);
  EXPECT_EQ(summarise({3}).standard_error, 0);
  EXPECT_EQ(summarise({3}).median, 3);
}

/// As in tables of the sign test at 5 %, two-sided; there the values are counted from 1.
TEST(MedianBounds, AreThoseOfTheTables) {
  EXPECT_EQ(median_bounds(6), Bounds(0, 5));
  EXPECT_EQ(median_bounds(9), Bounds(1, 7));
  EXPECT_EQ(median_bounds(10), Bounds(1, 8));
  EXPECT_EQ(median_bounds(20), Bounds(5, 14));
  EXPECT_EQ(median_bounds(100), Bounds(39, 60));
  EXPECT_EQ(median_bounds(1000), Bounds(468, 531));
  for (std::size_t n = 1; n < 6; ++n) EXPECT_EQ(median_bounds(n), Bounds(0, n - 1));
}

TEST(MedianBounds, GrowWithoutAJump) {
  const auto [low, high] = median_bounds(1001);
  EXPECT_NEAR(static_cast<double>(low), 468, 1);
  EXPECT_EQ(high, 1000 - low);
}

TEST(PairedRatio, IgnoresWhatBothHaveInCommon) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 1; i <= 101; ++i) {
    b.push_back(i); // a machine that slows down
    a.push_back(1.5 * i);
  }
  const auto [median, low, high] = paired_ratio(a, b);
  EXPECT_DOUBLE_EQ(median, 1.5);
  EXPECT_DOUBLE_EQ(low, 1.5);
  EXPECT_DOUBLE_EQ(high, 1.5);
}

/// In 95 of 100 experiments or a little more the interval holds the true median.
TEST(PairedRatio, IntervalCoversTheMedian) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> ratio(0, 0.3); // median 1
  int covered = 0;
  for (int experiment = 0; experiment < 2000; ++experiment) {
    std::vector<double> a(51);
    std::generate(a.begin(), a.end(), [&] { return ratio(random); });
    const auto interval = paired_ratio(a, std::vector<double>(51, 1.0));
    if (interval.low <= 1 && 1 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, 1880);
  EXPECT_LE(covered, 1960);
}

} // namespace
