// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>

/// Tables whose extents only their rank knows: rank r's has r rows of r + 2 numbers, in columns.
using Table = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// What the collecting rank computes with: the same elements, in rows.
using Rows = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

inline double element(std::size_t i, std::size_t j) { return 100.0 * static_cast<double>(i) + static_cast<double>(j); }

inline Table table_of(int rank) {
  const Table table("table", rank, rank + 2);
  for (std::size_t i = 0; i < table.extent(0); ++i)
    for (std::size_t j = 0; j < table.extent(1); ++j) table(i, j) = element(i, j);
  return table;
}

inline bool is_right(const Rows& rows) {
  bool right = rows.extent(1) == rows.extent(0) + 2;
  for (std::size_t i = 0; i < rows.extent(0); ++i)
    for (std::size_t j = 0; j < rows.extent(1); ++j) right = right && rows(i, j) == element(i, j);
  return right;
}
