// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>
#include <kontor/device/unroll.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

/// Numbers of several elements at once. On a host a kernel treats as many elements as a vector register holds, by the
/// vector types of GCC and Clang; on a device one. Formulas are the same, so are their bits.
namespace kontor::element {

// KONTOR_SHUFFLES: there are vectors, and shuffles of them. KONTOR_FLATTEN: after the parameters of a kernel of many
// small functions, has all of them inlined; g++ stops early, and passes vectors through memory.
#define KONTOR_FLATTEN
#if defined(__has_builtin) && !defined(__CUDACC__) && !defined(__HIPCC__)
#if __has_builtin(__builtin_shufflevector)
#define KONTOR_SHUFFLES 1
#undef KONTOR_FLATTEN
#define KONTOR_FLATTEN __attribute__((flatten))
#endif
#endif

#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

using device::Index, device::unroll;

namespace detail {
template <class T>
struct HostLanes {
#if KONTOR_SHUFFLES
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
auto first_lane(const V& lanes) {
  if constexpr (std::is_arithmetic_v<V>)
    return lanes;
  else
    return lanes[0];
}
} // namespace detail

/// The type of one lane.
template <class V>
using Scalar = decltype(detail::first_lane(std::declval<V>()));

/// The number of one element.
template <class V>
KOKKOS_INLINE_FUNCTION Scalar<V>& lane(V& lanes, int i) {
  return reinterpret_cast<Scalar<V>*>(&lanes)[i];
}
template <class V>
KOKKOS_INLINE_FUNCTION Scalar<V> lane(const V& lanes, int i) {
  return reinterpret_cast<const Scalar<V>*>(&lanes)[i];
}

/// Two numbers that lie side by side, which a device reads at once.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T at[2];
};

namespace detail {
#if KONTOR_SHUFFLES
/// The pairs at(first), at(first + 1), ... in one vector.
template <class T, int first, int count, class At>
KOKKOS_INLINE_FUNCTION auto joined(const At& at) {
  typedef T Numbers __attribute__((vector_size(2 * count * sizeof(T))));
  if constexpr (count == 1) {
    Numbers pair;
    std::memcpy(&pair, at(Index<first>()), sizeof(pair));
    return pair;
  } else {
    const auto a = joined<T, first, count / 2>(at), b = joined<T, first + count / 2, count / 2>(at);
    return [&]<int... I>(std::integer_sequence<int, I...>)->Numbers { return __builtin_shufflevector(a, b, I...); }
    (std::make_integer_sequence<int, 2 * count>());
  }
}
#endif
} // namespace detail

/// The first and the second numbers of the pairs at(0), at(1), ... of lanes, each a pointer to two numbers.
template <class V, class At>
KOKKOS_INLINE_FUNCTION void load_pairs(const At& at, V& first, V& second) {
  if constexpr (std::is_arithmetic_v<V>) {
    const auto pair = *reinterpret_cast<const Pair<V>*>(at(Index<0>()));
    first = pair.at[0];
    second = pair.at[1];
  } else {
#if KONTOR_SHUFFLES
    constexpr int half = sizeof(V) / sizeof(Scalar<V>) / 2;
    const auto a = detail::joined<Scalar<V>, 0, half>(at), b = detail::joined<Scalar<V>, half, half>(at);
    [&]<int... I>(std::integer_sequence<int, I...>) {
      first = __builtin_shufflevector(a, b, (2 * I)...);
      second = __builtin_shufflevector(a, b, (2 * I + 1)...);
    }
    (std::make_integer_sequence<int, 2 * half>());
#endif
  }
}

/// Stores pairs of lanes at at(0), at(1), ..., each a pointer to two numbers.
template <class V, class At>
KOKKOS_INLINE_FUNCTION void store_pairs(const V& first, const V& second, const At& at) {
#if KONTOR_SHUFFLES
  constexpr int half = sizeof(V) / sizeof(Scalar<V>) / 2;
  typedef Scalar<V> Numbers __attribute__((vector_size(2 * sizeof(Scalar<V>))));
  [&]<int... I>(std::integer_sequence<int, I...>) {
    const V low = __builtin_shufflevector(first, second, (I / 2 + I % 2 * 2 * half)...);
    const V high = __builtin_shufflevector(first, second, (half + I / 2 + I % 2 * 2 * half)...);
    unroll<half>([&](auto l) {
      const Numbers a = __builtin_shufflevector(low, low, 2 * l, 2 * l + 1);
      const Numbers b = __builtin_shufflevector(high, high, 2 * l, 2 * l + 1);
      std::memcpy(at(Index<l>()), &a, sizeof(a));
      std::memcpy(at(Index<half + l>()), &b, sizeof(b));
    });
  }
  (std::make_integer_sequence<int, 2 * half>());
#endif
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

} // namespace kontor::element
