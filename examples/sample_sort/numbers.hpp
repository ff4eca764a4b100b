// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using Numbers = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

/// What a rank begins with, sorted: rank r has 1000 + 100 r numbers that look random.
inline Numbers numbers_of(int rank) {
  const Numbers numbers("numbers", 1000 + 100 * rank);
  auto state = static_cast<std::uint64_t>(rank + 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    numbers(i) = static_cast<std::int64_t>(state >> 44U);
  }
  std::sort(numbers.data(), numbers.data() + numbers.size());
  return numbers;
}

/// As many of sorted numbers, at equal distances.
inline Numbers samples_of(const Numbers& sorted, int count) {
  const Numbers samples("samples", count);
  for (std::size_t i = 0; i < samples.size(); ++i) samples(i) = sorted(i * sorted.size() / samples.size());
  return samples;
}

/// How many of this rank's sorted numbers belong to each rank: splitters are taken from the samples of all.
inline std::vector<int> counts_of(const Numbers& sorted, const Numbers& all_samples, int ranks) {
  std::sort(all_samples.data(), all_samples.data() + all_samples.size());
  std::vector<int> counts;
  const auto* const end = sorted.data() + sorted.size();
  const auto* begin = sorted.data();
  for (int r = 1; r < ranks; ++r) {
    const auto* const next = std::lower_bound(begin, end, all_samples(r * all_samples.size() / ranks));
    counts.push_back(static_cast<int>(next - begin));
    begin = next;
  }
  counts.push_back(static_cast<int>(end - begin));
  return counts;
}

/// Merges what has come from all ranks.
inline void sort(const Numbers& numbers) { std::sort(numbers.data(), numbers.data() + numbers.size()); }

inline std::int64_t sum_of(const Numbers& numbers) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += numbers(i);
  return sum;
}

/// Of all ranks' numbers, which only the root has: whether they are sorted, and those of the beginning.
inline bool is_right(const Numbers& all, int ranks) {
  std::int64_t count = 0, sum = 0;
  for (int r = 0; r < ranks; ++r) {
    count += static_cast<std::int64_t>(numbers_of(r).size());
    sum += sum_of(numbers_of(r));
  }
  return std::is_sorted(all.data(), all.data() + all.size()) && count == static_cast<std::int64_t>(all.size()) &&
         sum == sum_of(all);
}
