// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <compare>
#include <cstdint>
#include <cstring>

/// Rows side by side: a row is a lane.
namespace kontor::cg {

// Columns of up to 32 rows that follow one another.

/// The same offset from the row in those lanes whose bit is set; the others have no such entry.
struct SharedOffset {
  std::int32_t offset = 0;
  std::uint32_t lanes = 0;
  auto operator<=>(const SharedOffset&) const = default; // NOLINT: clang-tidy 14 takes its 0 for nullptr
};

/// By its number, what the entry of a row is multiplied with: 0 where its lane has none. `x_row` is where x has the
/// row's own value.
KOKKOS_INLINE_FUNCTION auto values_of_x(const SharedOffset* offsets, int lane, const double* x_row) {
  return [offsets, lane, x_row](int e) {
    const auto to = offsets[e];
    return (to.lanes >> lane & 1) != 0 ? x_row[to.offset] : 0;
  };
}

// Numbers of rows side by side on a processor.

/// Numbers that are computed at once: those of a register. GCC keeps longer vectors in memory.
#if defined(__AVX512F__)
inline constexpr int width = 8;
#elif defined(__AVX__)
inline constexpr int width = 4;
#else
inline constexpr int width = 2;
#endif

#if defined(__GNUC__) && !defined(__CUDACC__)
typedef double Lanes __attribute__((vector_size(width * sizeof(double))));
typedef std::int64_t LaneBits __attribute__((vector_size(width * sizeof(double))));

inline Lanes loaded(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

/// Local. sum += a[lane] b[lane] in each lane; a and b need not be aligned.
inline void add_products(Lanes& sum, const double* a, const double* b) { sum += loaded(a) * loaded(b); }

/// Local. sum += a b[lane].
inline void add_products(Lanes& sum, double a, const double* b) { sum += a * loaded(b); }

/// Local. sum += products[lane] in those lanes whose bits are set. To the others 0 is added, which changes no sum that
/// began as 0: none is -0.
inline void add_in(std::uint32_t lanes, Lanes& sum, const Lanes& products) {
  LaneBits lane;
  for (int l = 0; l < width; ++l) lane[l] = std::int64_t{1} << l;
  const LaneBits bits = (lane & static_cast<std::int64_t>(lanes)) != 0;
  sum += reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(products) & bits);
}

/// Local. The same as without lanes, in those whose bits are set; the others are read, too.
inline void add_products(Lanes& sum, const double* a, const double* b, std::uint32_t lanes) {
  add_in(lanes, sum, loaded(a) * loaded(b));
}
inline void add_products(Lanes& sum, double a, const double* b, std::uint32_t lanes) {
  add_in(lanes, sum, a * loaded(b));
}

inline void store(double* to, const Lanes& lanes) { std::memcpy(to, &lanes, sizeof lanes); }

/// Local. Asks for the cache line of an address that is read soon; any address will do. Processors fetch ahead by
/// themselves, but not over the end of a page.
inline void prefetch(const void* address) { __builtin_prefetch(address); }

#else // compilers without vector types; nvcc, which compiles no loop for a processor that is used
struct Lanes {
  double value[width] = {};
};
inline void add_products(Lanes& sum, const double* a, const double* b) {
  for (int l = 0; l < width; ++l) sum.value[l] += a[l] * b[l];
}
inline void add_products(Lanes& sum, double a, const double* b) {
  for (int l = 0; l < width; ++l) sum.value[l] += a * b[l];
}
inline void add_products(Lanes& sum, const double* a, const double* b, std::uint32_t lanes) {
  for (int l = 0; l < width; ++l) sum.value[l] += (lanes >> l & 1) != 0 ? a[l] * b[l] : 0;
}
inline void add_products(Lanes& sum, double a, const double* b, std::uint32_t lanes) {
  for (int l = 0; l < width; ++l) sum.value[l] += (lanes >> l & 1) != 0 ? a * b[l] : 0;
}
inline void store(double* to, const Lanes& lanes) { std::memcpy(to, lanes.value, sizeof lanes.value); }
inline void prefetch(const void*) {}
#endif

/// Numbers of a cache line.
inline constexpr int cache_line = 8;

} // namespace kontor::cg
