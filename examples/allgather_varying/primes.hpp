// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

using Numbers = Kokkos::View<int*, Kokkos::HostSpace>;

inline constexpr int limit = 1000; // there are 168 primes below it, and their sum is 76127

inline bool is_prime(int n) {
  for (int divisor = 2; divisor * divisor <= n; ++divisor)
    if (n % divisor == 0) return false;
  return n > 1;
}

/// The primes in this rank's part of the numbers: how many nobody knows before.
inline Numbers primes_of(int rank, int ranks) {
  const int begin = limit * rank / ranks, end = limit * (rank + 1) / ranks;
  const Numbers primes("primes", end - begin);
  int found = 0;
  for (int n = begin; n < end; ++n)
    if (is_prime(n)) primes(found++) = n;
  return Kokkos::subview(primes, std::pair(0, found));
}

inline bool is_right(const Numbers& primes) {
  int sum = 0;
  for (std::size_t i = 0; i < primes.size(); ++i) {
    if (i > 0 && primes(i) <= primes(i - 1)) return false;
    sum += primes(i);
  }
  return primes.size() == 168 && sum == 76127;
}
