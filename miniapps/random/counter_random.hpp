// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

/// Random numbers by counter: a function of where they stand, so the same on any number of ranks (the idea of J. K.
/// Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC11).
namespace kontor::random {

/// 2^64 divided by the golden ratio, odd: from one counter of SplitMix64 to the next.
inline constexpr std::uint64_t step = 0x9e3779b97f4a7c15ull;

/// The finalizer of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators,
/// OOPSLA 2014).
KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// 64 bits for element (i, j) of stream number `stream`.
KOKKOS_INLINE_FUNCTION std::uint64_t bits_at(std::uint64_t stream, std::int64_t i, std::int64_t j) {
  const auto of_row = mix(mix(stream + step) + static_cast<std::uint64_t>(i) * step);
  return mix(of_row + static_cast<std::uint64_t>(j) * step);
}

/// Uniform in [-1, 1), exact in T.
template <class T>
KOKKOS_INLINE_FUNCTION T uniform(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(bits >> 40) * (1.0f / 8388608.0f) - 1.0f;
  else
    return static_cast<double>(bits >> 11) * (1.0 / 4503599627370496.0) - 1.0;
}

} // namespace kontor::random
