// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "stepping/independent.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>

/// Loops over cells or points of a block.
namespace kontor::grid {

/// Local; queued on `instance`. Calls cell(k, j, i) for each of a box, in any order: its indices in the fields (z, y,
/// x) of the block. `cell` is a KOKKOS_LAMBDA made in a free function, and computes each by itself. A host's threads
/// have rows.
template <class T, class ExecutionSpace, class Cell>
void for_cells(const char* label, const ExecutionSpace& instance, const Block& block, const Box& box,
               const Cell& cell) {
  if (box.empty()) return;
  const auto before = padding<T>(block);
  const auto begin = [&](int axis) { return box.begin[axis] + before[axis]; };
  const auto end = [&](int axis) { return box.end[axis] + before[axis]; };
  if constexpr (device::kernels_on_host) {
    const auto x = begin(0), x_end = end(0), y = begin(1), z = begin(2), rows = box.extent(1);
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(instance, 0, rows * box.extent(2)),
        [=](std::int64_t row) {
          const auto k = z + row / rows, j = y + row % rows;
          KONTOR_INDEPENDENT
          for (auto i = x; i < x_end; ++i) cell(k, j, i);
        });
  } else {
    using Policy =
        Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                              Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(label, Policy(instance, {begin(2), begin(1), begin(0)}, {end(2), end(1), end(0)}, {1, 4, 64}),
                         cell);
  }
}

/// Local; waits. Own cells or points of a field = value(x, y, z) at their coordinates, which host threads call.
template <class T, class Value>
void set_values(const FieldView<T>& field, const Block& block, const Value& value) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  const auto own = view_of(host, block, block.all());
  const auto rows = block.extents[1];
  Kokkos::parallel_for(
      "grid/set values", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, rows * block.extents[2]),
      [&](std::int64_t row) {
        const auto k = row / rows, j = row % rows;
        for (std::int64_t i = 0; i < block.extents[0]; ++i)
          own(k, j, i) = static_cast<T>(value(block.coordinate(0, i), block.coordinate(1, j), block.coordinate(2, k)));
      });
  device::fence(Host(), "grid/set values");
  Kokkos::deep_copy(field, host);
}

/// Local; waits. The largest difference of own cells or points from value(i, j, k) at their indices in the whole grid,
/// which host threads call; infinite if one is not finite.
template <class T, class Value>
double largest_difference(const FieldView<T>& field, const Block& block, const Value& value) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  const auto own = view_of(host, block, block.all());
  const auto rows = block.extents[1];
  double most = 0;
  Kokkos::parallel_reduce(
      "grid/largest difference", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, rows * block.extents[2]),
      [&](std::int64_t row, double& part) {
        const auto k = row / rows, j = row % rows;
        const auto& offset = block.offset;
        for (std::int64_t i = 0; i < block.extents[0]; ++i) {
          const double d = std::abs(own(k, j, i) - value(offset[0] + i, offset[1] + j, offset[2] + k));
          part = std::isfinite(d) ? std::max(part, d) : INFINITY;
        }
      },
      Kokkos::Max<double>(most));
  return most;
}

} // namespace kontor::grid
