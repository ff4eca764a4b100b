// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/stream_store.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

/// The loops by which memory is measured: functors of pointers and numbers, which Kokkos::parallel_for calls with an
/// index.
namespace kontor::miniapp::stream {

/// What threads of a host take at a time: 64 KiB, less where there are not as many tiles as threads.
struct Tiles {
  Tiles(std::int64_t all, int threads)
      : elements(all), length(std::clamp<std::int64_t>((all + threads - 1) / threads, 1, 8192)),
        count((all + length - 1) / length) {}
  std::int64_t elements, length, count;

  /// The first element; of the tile after the last one: the end.
  std::int64_t begin(std::int64_t tile) const { return std::min(tile * length, elements); }
};

constexpr std::int64_t line = 64 / sizeof(double);
constexpr std::int64_t prefetched_bytes = 4096; ///< ahead of use, across the end of a page

/// Asks for the cache line that lies so far ahead: as a number, since it may be past the end of the array.
inline void prefetch_after(const double* x) {
  const auto address = reinterpret_cast<std::uintptr_t>(x) + prefetched_bytes;
  __builtin_prefetch(reinterpret_cast<const void*>(address)); // NOLINT(performance-no-int-to-ptr)
}

/// Reading on a host: the sum of a range, by 32 accumulators, so that no addition waits for the one before it. A sum
/// below 0 goes to `sink`: of numbers above 0 nothing is written, which no compiler knows.
template <bool prefetches>
struct ReadRange {
  const double* x;
  double* sink;

  double sum(std::int64_t i, std::int64_t end) const {
    constexpr std::int64_t many = 32;
    double sums[many] = {};
    for (; i + many <= end; i += many) {
      if constexpr (prefetches)
        for (std::int64_t k = 0; k < many; k += line) prefetch_after(x + i + k);
#pragma omp simd
      for (std::int64_t k = 0; k < many; ++k) sums[k] += x[i + k];
    }
    double total = 0;
    for (; i < end; ++i) total += x[i];
    for (const double value : sums) total += value;
    return total;
  }
  void operator()(std::int64_t begin, std::int64_t end) const {
    if (const double value = sum(begin, end); value < 0) *sink = value;
  }
};

/// Reading on a device: threads read neighbouring elements, each with eight accumulators.
struct ReadStrided {
  const double* x;
  std::int64_t elements;
  std::int64_t threads;
  double* sink;

  KOKKOS_FUNCTION double sum(std::int64_t thread) const {
    constexpr int many = 8;
    double sums[many] = {};
    auto i = thread;
    for (; i + (many - 1) * threads < elements; i += many * threads)
      for (int k = 0; k < many; ++k) sums[k] += x[i + k * threads];
    for (; i < elements; i += threads) sums[0] += x[i];
    double total = 0;
    for (int k = 0; k < many; ++k) total += sums[k];
    return total;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    if (const double value = sum(thread); value < 0) *sink = value;
  }
};

/// Copying by ordinary stores.
struct Copy {
  const double* from;
  double* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i]; }
};

/// Copying a range on a host by non-temporal stores, where the processor has them.
struct StreamCopyRange {
  const double* from;
  double* to;

  void operator()(std::int64_t i, std::int64_t end) const {
    constexpr std::int64_t piece = 16 * line;
    for (; i < end; i += piece) {
      const auto count = std::min(piece, end - i);
      for (std::int64_t k = 0; k < count; k += line) prefetch_after(from + i + k);
      stream_copy(to + i, from + i, count);
    }
    stream_fence();
  }
};

struct Triad {
  double* a;
  const double* b;
  const double* c;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { a[i] += b[i] + 3.0 * c[i]; }
};

} // namespace kontor::miniapp::stream
