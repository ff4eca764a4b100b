// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <compare>
#include <cstdint>

/// Columns of up to 32 rows that follow one another. A row is a lane.
namespace kontor::cg {

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

} // namespace kontor::cg
