// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

/// An axis of n cells, points, rows or columns, cut into parts in one piece each, whose sizes differ by one at most.
/// Two rules say which parts are the larger ones.
namespace kontor::grid {

/// The part [begin, end) of an axis.
struct AxisRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  KOKKOS_FUNCTION std::int64_t size() const { return end - begin; }
};

/// Part `index` where the first n % parts parts have one more: those of grids.
KOKKOS_INLINE_FUNCTION AxisRange part_of_axis(std::int64_t n, std::int64_t parts, std::int64_t index) {
  const auto size = n / parts, larger = n % parts;
  const auto begin = index * size + (index < larger ? index : larger);
  return {begin, begin + size + (index < larger ? 1 : 0)};
}

/// Where part `index` begins if that is floor(n index / parts): those of matrices. A part of two in a row is a part of
/// half as many. Goes on around the axis: part `parts` begins at n, and so on.
KOKKOS_INLINE_FUNCTION std::int64_t part_begin(std::int64_t n, std::int64_t parts, std::int64_t index) {
  const auto around = index / parts;
  return around * n + n / parts * (index % parts) + n % parts * (index % parts) / parts;
}

} // namespace kontor::grid
