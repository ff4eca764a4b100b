// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// Non-temporal stores. An ordinary store reads its cache line first, so a sweep that writes what it will not read
/// again soon moves 3 words a cell instead of 2.
namespace kontor::miniapp {

/// Copies `count` values to memory by non-temporal stores where the processor has them, else plainly. Other threads and
/// ranks see them after stream_fence().
template <class T>
inline void stream_copy(T* to, const T* from, std::int64_t count) {
#if defined(__SSE2__)
  using Vector = __m128i; // longer ones copy no faster
  constexpr std::int64_t width = sizeof(Vector) / sizeof(T);
  std::int64_t i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % sizeof(Vector) != 0; ++i) to[i] = from[i];
  for (; i + width <= count; i += width)
    _mm_stream_si128(reinterpret_cast<Vector*>(to + i), _mm_loadu_si128(reinterpret_cast<const Vector*>(from + i)));
  for (; i < count; ++i) to[i] = from[i];
#else
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
#endif
}

/// Orders the streamed stores of this thread before what it does next.
inline void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

} // namespace kontor::miniapp
