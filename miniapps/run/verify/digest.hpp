// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace kontor::miniapp {

/// The bits of a number, as an integer.
template <class T>
KOKKOS_INLINE_FUNCTION std::uint64_t bits_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  union {
    T value;
    std::uint64_t bits;
  } both{};
  both.bits = 0;
  both.value = value;
  return both.bits;
}

/// A number that differs, all but surely, if any bit of the value or its place does. The sum of those of all elements
/// is a checksum of a field that does not depend on the order: equal sums mean equal bits at equal places. The mixing
/// is that of splitmix64 (G. Steele et al., OOPSLA 2014).
template <class T>
KOKKOS_INLINE_FUNCTION std::uint64_t digest_of(std::uint64_t place, const T& value) {
  auto z = place * 0x9e3779b97f4a7c15u + bits_of(value);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

} // namespace kontor::miniapp
