// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>

/// What is known of a sample without keeping it.
struct Statistics {
  double count = 0;
  double mean = 0;
  double squares = 0; ///< sum of (value - mean)^2
  double least = INFINITY;
  double where = 0; ///< the number of the least value
};

/// Of two samples together: Chan, Golub and LeVeque's update of means and squares.
inline Statistics merged(const Statistics& a, const Statistics& b) {
  const double count = a.count + b.count;
  if (count == 0) return a;
  const double difference = b.mean - a.mean;
  const bool in_a = a.least < b.least || (a.least == b.least && a.where < b.where);
  return {count, a.mean + difference * b.count / count,
          a.squares + b.squares + difference * difference * a.count * b.count / count, in_a ? a.least : b.least,
          in_a ? a.where : b.where};
}

inline constexpr int values_per_rank = 1000;

/// This rank's part of the values |i - 10| for i = 0, 1, 2 ...
inline Statistics statistics_of(int rank) {
  Statistics all;
  for (int i = rank * values_per_rank; i < (rank + 1) * values_per_rank; ++i)
    all = merged(all, {1, std::abs(i - 10.0), 0, std::abs(i - 10.0), static_cast<double>(i)});
  return all;
}

/// All values in one sample, to compare with.
inline bool is_right(const Statistics& found, int ranks) {
  const double n = static_cast<double>(ranks) * values_per_rank;
  const double mean = ((n - 11) * (n - 10) / 2 + 55) / n;
  const double squares = (n - 11) * (n - 10) * (2 * n - 21) / 6 + 385 - n * mean * mean;
  return found.count == n && std::abs(found.mean / mean - 1) < 1e-12 && std::abs(found.squares / squares - 1) < 1e-10 &&
         found.least == 0 && found.where == 10;
}
