// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/problem/pencil.hpp"

#include <kontor/device/compat.hpp>

#include <algorithm>
#include <utility>

namespace kontor::fft {

/// Local; queued on `instance`. to = from, arrays of equal extents whose values lie in different orders. A tile of the
/// two axes that are contiguous at either end is copied at a time, so that both ends use whole cache lines.
template <class T>
void copy(const Space& instance, const Array<T>& to, const Array<T>& from) {
  using Index = std::int64_t;
  constexpr Index tile = device::kernels_on_host ? std::max<Index>(4, 128 / sizeof(T)) : 16; // two cache lines
  const auto fastest = [](const Array<T>& a) {
    int best = 2;
    for (int d = 0; d < 2; ++d)
      if (a.extent(d) > 1 && (a.stride(d) < a.stride(best) || a.extent(best) == 1)) best = d;
    return best;
  };
  const int i = fastest(to);                                           // contiguous in `to`
  const int j = fastest(from) != i ? fastest(from) : (i == 2 ? 1 : 2); // in `from`, or any other
  const int k = 3 - i - j;
  const auto extent = [&](int d) { return static_cast<Index>(to.extent(d)); };
  const auto in = [&](int d) { return static_cast<Index>(from.stride(d)); };
  const auto out = [&](int d) { return static_cast<Index>(to.stride(d)); };
  const Index ni = extent(i), nj = extent(j), nk = extent(k);
  const Index in_i = in(i), in_j = in(j), in_k = in(k), out_i = out(i), out_j = out(j), out_k = out(k);
  const T* const source = from.data();
  T* const target = to.data();
  if constexpr (device::kernels_on_host) {
    const Index tiles = (nj + tile - 1) / tile;
    Kokkos::parallel_for("fft/copy", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(instance, 0, nk * tiles),
                         [=](Index n) {
                           const Index at_k = n / tiles, first = n % tiles * tile, last = std::min(nj, first + tile);
                           const T* const plane = source + at_k * in_k;
                           T* const result = target + at_k * out_k;
                           for (Index begin = 0; begin < ni; begin += tile)
                             for (Index at_j = first; at_j < last; ++at_j)
                               for (Index at_i = begin, end = std::min(ni, begin + tile); at_i < end; ++at_i)
                                 result[at_i * out_i + at_j * out_j] = plane[at_i * in_i + at_j * in_j];
                         });
  } else {
    using Policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                                         Kokkos::IndexType<Index>>;
    Kokkos::parallel_for(
        "fft/copy", Policy(instance, {0, 0, 0}, {nk, nj, ni}, {1, tile, tile}),
        KOKKOS_LAMBDA(Index at_k, Index at_j, Index at_i) {
          target[at_k * out_k + at_j * out_j + at_i * out_i] = source[at_k * in_k + at_j * in_j + at_i * in_i];
        });
  }
}

} // namespace kontor::fft
