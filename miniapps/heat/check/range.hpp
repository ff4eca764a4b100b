// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace kontor::heat {

/// The smallest and the largest of some values; of none at first.
struct Range {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();

  void add(double value) {
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  double width() const { return largest - smallest; }
  double magnitude() const { return std::max(std::abs(smallest), std::abs(largest)); }
};

/// That of the values of both.
inline constexpr auto both = [](const Range& a, const Range& b) {
  return Range{std::min(a.smallest, b.smallest), std::max(a.largest, b.largest)};
};

} // namespace kontor::heat
