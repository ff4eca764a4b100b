// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

/// Numbers of several elements at once. On a host a kernel treats as many elements as a vector register holds, by the
/// vector types of GCC and Clang; on a device one. Formulas are the same, so are their bits.
namespace kontor::element {

#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

/// A number that is known when kernels are compiled, as std::integral_constant, on devices, too.
template <int n>
struct Index {
  static constexpr int value = n;
  KOKKOS_INLINE_FUNCTION constexpr operator int() const { return n; } // NOLINT(google-explicit-constructor)
};

namespace detail {
template <class T>
struct HostLanes {
#if defined(__GNUC__) && !defined(__NVCOMPILER)
  typedef T type __attribute__((vector_size(vector_bytes)));
#else
  using type = T;
#endif
};
} // namespace detail

using Space = Kokkos::DefaultExecutionSpace;

/// The numbers of one iteration of a kernel over elements.
template <class T>
using Lanes = std::conditional_t<device::kernels_on_host, typename detail::HostLanes<T>::type, T>;

/// How many elements an iteration treats.
template <class T>
inline constexpr int width = static_cast<int>(sizeof(Lanes<T>) / sizeof(T));

namespace detail {
template <class V>
struct ScalarOf {
  using type = std::remove_reference_t<decltype(std::declval<V&>()[0])>;
};
template <class V>
requires std::is_arithmetic_v<V>
struct ScalarOf<V> {
  using type = V;
};
} // namespace detail

/// The type of one lane.
template <class V>
using Scalar = typename detail::ScalarOf<V>::type;

/// The number of one element.
template <class V>
KOKKOS_INLINE_FUNCTION Scalar<V>& lane(V& lanes, int i) {
  return reinterpret_cast<Scalar<V>*>(&lanes)[i];
}
template <class V>
KOKKOS_INLINE_FUNCTION Scalar<V> lane(const V& lanes, int i) {
  return reinterpret_cast<const Scalar<V>*>(&lanes)[i];
}

/// The lanes f(0), f(1), ...
template <class V, class F>
KOKKOS_INLINE_FUNCTION V lanes_of(const F& f) {
  if constexpr (std::is_arithmetic_v<V>)
    return f(Index<0>());
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) { return V{f(Index<I>())...}; }
  (std::make_integer_sequence<int, sizeof(V) / sizeof(Scalar<V>)>());
}

/// All lanes the same number.
template <class V>
KOKKOS_INLINE_FUNCTION V all_lanes(double value) {
  return V{} + static_cast<Scalar<V>>(value);
}

template <class V>
KOKKOS_INLINE_FUNCTION V square_root(V value) {
  for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(Scalar<V>)); ++i) lane(value, i) = std::sqrt(lane(value, i));
  return value;
}

/// f(0), f(1), ..., each index a constant: loops that no compiler decides about.
template <int N, class F>
KOKKOS_INLINE_FUNCTION void unroll(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(Index<I>()), ...); }
  (std::make_integer_sequence<int, N>());
}

} // namespace kontor::element
