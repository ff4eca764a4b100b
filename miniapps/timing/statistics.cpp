// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "timing/statistics.hpp"

#include "run/record/timers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kontor::timing {

Summary summarise(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  return {static_cast<std::int64_t>(values.size()), mean, n > 1 ? std::sqrt(squares / (n - 1) / n) : 0,
          miniapp::median(values), *std::min_element(values.begin(), values.end())};
}

/// The median lies outside [x(k), x(n-1-k)] if at most k of the values fall on one side of it, and each of them falls
/// on either side with probability 1/2.
std::pair<std::size_t, std::size_t> median_bounds(std::size_t n) {
  const auto size = static_cast<double>(n);
  double term = std::exp2(-size); // probability that exactly k values are below
  double tail = term;             // at most k; below 2^-1022 all of this is 0, and so is the probability
  std::size_t k = 0;
  if (n > 1000) { // binomial -> normal
    k = static_cast<std::size_t>(std::floor(size / 2 - 1.96 * std::sqrt(size) / 2));
    return {k, n - 1 - k};
  }
  while (2 * k + 3 < n) {
    term *= (size - static_cast<double>(k)) / static_cast<double>(k + 1);
    if (tail + term > 0.025) break;
    tail += term;
    ++k;
  }
  return {k, n - 1 - k};
}

Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios(a.size());
  std::transform(a.begin(), a.end(), b.begin(), ratios.begin(), std::divides<>());
  std::sort(ratios.begin(), ratios.end());
  const auto [low, high] = median_bounds(ratios.size());
  return {miniapp::median(ratios), ratios[low], ratios[high]};
}

} // namespace kontor::timing
