// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/axis_parts.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

namespace kontor::matmul {

/// Which indices of an axis of a matrix a rank has: local index l is `begin + l / block * stride + l % block`.
struct AxisPart {
  std::int64_t size = 0;
  std::int64_t begin = 0;
  std::int64_t block = 1;  ///< neighbouring indices that are together
  std::int64_t stride = 1; ///< from one block to the next

  KOKKOS_FUNCTION std::int64_t global(std::int64_t local) const {
    return begin + local / block * stride + local % block;
  }
  bool operator==(const AxisPart&) const = default;
};

using grid::part_begin;

/// Part `index` of n indices that are cut into `parts` in one piece each.
inline AxisPart block_part(std::int64_t n, std::int64_t parts, std::int64_t index) {
  const auto begin = part_begin(n, parts, index);
  const auto size = part_begin(n, parts, index + 1) - begin;
  return {size, begin, std::max<std::int64_t>(size, 1), 0};
}

/// Part `index` of n indices whose blocks are dealt to `parts` in turn, as ScaLAPACK's NUMROC and INDXL2G number them
/// (L. S. Blackford et al., ScaLAPACK Users' Guide, SIAM 1997, section 4.3).
inline AxisPart cyclic_part(std::int64_t n, std::int64_t block, std::int64_t parts, std::int64_t index) {
  const auto whole = n / block; // blocks that are not cut off
  auto size = whole / parts * block;
  if (index < whole % parts) size += block;
  if (index == whole % parts) size += n % block;
  return {size, index * block, block, parts * block};
}

} // namespace kontor::matmul
