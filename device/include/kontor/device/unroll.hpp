// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <utility>

namespace kontor::device {

/// A number that is known when kernels are compiled, as std::integral_constant, on devices, too.
template <int n>
struct Index {
  static constexpr int value = n; ///< the number
  /// The same.
  KOKKOS_INLINE_FUNCTION constexpr operator int() const { return n; } // NOLINT(google-explicit-constructor)
};

/// f(0), f(1), ..., each an Index: loops that no compiler decides about.
template <int N, class F>
KOKKOS_INLINE_FUNCTION void unroll(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(Index<I>()), ...); }
  (std::make_integer_sequence<int, N>());
}

} // namespace kontor::device
