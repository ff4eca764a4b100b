// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"

#include <Kokkos_Core.hpp>

/// What kernels of all formats share in which a thread sums a row by itself.
namespace kontor::cg {

/// What a thread knows of a position before it sums: the row, -1 if there is none.
struct RowPlace {
  LocalIndex row;
};

/// A number that a product reads once: on a device it need not take the place of x in caches.
KOKKOS_INLINE_FUNCTION double read_once(const double* at) {
#ifdef __CUDA_ARCH__
  return __ldcs(at);
#else
  return *at;
#endif
}

/// value(e) x(e) of entries from e on, added to the sum in their order. Several are read before the first is added:
/// from a device's threads its memory is far away. Of those that are left, a third as many, down to one.
template <int at_once, class Value, class X>
KOKKOS_INLINE_FUNCTION double sum_in_order(int entries, const Value& value, const X& x, int e = 0, double sum = 0) {
  for (; e + at_once <= entries; e += at_once) {
    double values[at_once], xs[at_once];
    for (int k = 0; k < at_once; ++k) {
      values[k] = value(e + k);
      xs[k] = x(e + k);
    }
    for (int k = 0; k < at_once; ++k) sum += values[k] * xs[k];
  }
  if constexpr (at_once > 1)
    return sum_in_order<at_once / 3 + (at_once < 3)>(entries, value, x, e, sum);
  else
    return sum;
}

/// How many are read at once where a thread has few registers.
inline constexpr int few_at_once = 5;

} // namespace kontor::cg
