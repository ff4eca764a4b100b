// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/lanes.hpp"

/// Tensors of order 2 in space. Symmetric ones have 6 numbers: xx, yy, zz, xy, yz, zx; others 9, row by row.
namespace kontor::element {

/// Where entry (i, j) of a symmetric tensor is.
KOKKOS_INLINE_FUNCTION constexpr int packed(int i, int j) { return i == j ? i : i + j == 1 ? 3 : i + j == 3 ? 4 : 5; }

template <class V, int n>
struct Entries {
  V at[n];

  template <class I, class J>
  KOKKOS_INLINE_FUNCTION V& operator()(I, J) {
    return at[n == 6 ? packed(I::value, J::value) : 3 * I::value + J::value];
  }
  template <class I, class J>
  KOKKOS_INLINE_FUNCTION const V& operator()(I, J) const {
    return at[n == 6 ? packed(I::value, J::value) : 3 * I::value + J::value];
  }
};
template <class V>
using Symmetric = Entries<V, 6>;
template <class V>
using Tensor = Entries<V, 9>;

template <class V>
KOKKOS_INLINE_FUNCTION V trace(const Symmetric<V>& a) {
  return a.at[0] + a.at[1] + a.at[2];
}

namespace detail {
/// f(i, j) of all 9 entries, or of the 6 of a symmetric tensor.
template <class F>
KOKKOS_INLINE_FUNCTION void each_entry(const F& f) {
  unroll<9>([&](auto n) { f(Index<n / 3>(), Index<n % 3>()); });
}
template <class F>
KOKKOS_INLINE_FUNCTION void each_packed(const F& f) {
  unroll<6>([&](auto n) { f(Index<(n < 3 ? n : n == 4 ? 1 : 0)>(), Index<(n < 3 ? n : n == 3 ? 1 : 2)>()); });
}
} // namespace detail

/// The product of two tensors of any kind.
template <class V, int m, int n>
KOKKOS_INLINE_FUNCTION Tensor<V> product(const Entries<V, m>& a, const Entries<V, n>& b) {
  using namespace detail;
  Tensor<V> c;
  each_entry([&](auto i, auto j) {
    c(i, j) =
        a(i, Index<0>()) * b(Index<0>(), j) + a(i, Index<1>()) * b(Index<1>(), j) + a(i, Index<2>()) * b(Index<2>(), j);
  });
  return c;
}

/// r s r', or, with the transpose of r, r' s r.
template <bool transposed, class V>
KOKKOS_INLINE_FUNCTION Symmetric<V> rotated(const Tensor<V>& r, const Symmetric<V>& s) {
  using namespace detail;
  const auto entry = [&](auto i, auto j) -> const V& {
    if constexpr (transposed)
      return r(j, i);
    else
      return r(i, j);
  };
  Tensor<V> half; // of the product with s
  each_entry([&](auto i, auto j) {
    half(i, j) = entry(i, Index<0>()) * s(Index<0>(), j) + entry(i, Index<1>()) * s(Index<1>(), j) +
                 entry(i, Index<2>()) * s(Index<2>(), j);
  });
  Symmetric<V> result;
  each_packed([&](auto i, auto j) {
    result(i, j) = half(i, Index<0>()) * entry(j, Index<0>()) + half(i, Index<1>()) * entry(j, Index<1>()) +
                   half(i, Index<2>()) * entry(j, Index<2>());
  });
  return result;
}

/// r v, or, with the transpose of r, r' v.
template <bool transposed, class V>
KOKKOS_INLINE_FUNCTION void rotate(const Tensor<V>& r, const V (&v)[3], V (&result)[3]) {
  unroll<3>([&](auto i) {
    constexpr int row = transposed ? 1 : 3, column = transposed ? 3 : 1;
    result[i] = r.at[row * i] * v[0] + r.at[row * i + column] * v[1] + r.at[row * i + 2 * column] * v[2];
  });
}

/// The solution of a x = b by the adjugate of a.
template <class V>
KOKKOS_INLINE_FUNCTION void solve(const Symmetric<V>& a, const V (&b)[3], V (&x)[3]) {
  const V xx = a.at[1] * a.at[2] - a.at[4] * a.at[4], xy = a.at[5] * a.at[4] - a.at[3] * a.at[2],
          zx = a.at[3] * a.at[4] - a.at[1] * a.at[5], yy = a.at[0] * a.at[2] - a.at[5] * a.at[5],
          yz = a.at[3] * a.at[5] - a.at[0] * a.at[4], zz = a.at[0] * a.at[1] - a.at[3] * a.at[3];
  const V scale = 1 / (a.at[0] * xx + a.at[3] * xy + a.at[5] * zx);
  x[0] = (xx * b[0] + xy * b[1] + zx * b[2]) * scale;
  x[1] = (xy * b[0] + yy * b[1] + yz * b[2]) * scale;
  x[2] = (zx * b[0] + yz * b[1] + zz * b[2]) * scale;
}

} // namespace kontor::element
