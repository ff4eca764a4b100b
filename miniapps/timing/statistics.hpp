// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// What is said of repeated times.
namespace kontor::timing {

struct Summary {
  std::int64_t repetitions = 0;
  double mean = 0;
  double standard_error = 0; ///< of the mean; 0 for one repetition
  double median = 0;
  double min = 0;
};

/// `values` is not empty.
Summary summarise(const std::vector<double>& values);

/// A median with its confidence interval of 95 % or more.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// Which of `n` sorted values, counted from 0, bound a confidence interval of the median of at least 95 % whatever
/// their distribution: the narrowest symmetric pair of order statistics. The first and the last value where n is below
/// 6, which gives less than 95 %.
std::pair<std::size_t, std::size_t> median_bounds(std::size_t n);

/// Of a[i] / b[i]. Both have the same length and are not empty.
Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

} // namespace kontor::timing
