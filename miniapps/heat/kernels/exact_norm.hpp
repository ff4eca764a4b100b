// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"
#include "stepping/norm_parts.hpp"

#include <kontor/sums/local_sums.hpp>

#include <cstdint>

namespace kontor::heat {

namespace detail {

/// The square of a cell's change; rows are counted through all planes.
template <int dimensions, class T>
struct SquaredChange {
  const T* before; ///< own cell (0, 0, 0)
  const T* after;
  std::int64_t row, plane; ///< strides of both
  std::int64_t rows_per_plane;

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t r, std::int64_t i) const {
    std::int64_t at = r * row + i;
    if constexpr (dimensions == 3) {
      // A division of 32 bits takes a fraction of the time.
      const std::int64_t k = r <= 0xffffffff
                                 ? static_cast<std::uint32_t>(r) / static_cast<std::uint32_t>(rows_per_plane)
                                 : r / rows_per_plane;
      at += k * (plane - rows_per_plane * row);
    }
    const T change = after[at] - before[at];
    return static_cast<double>(change) * static_cast<double>(change);
  }
};

} // namespace detail

/// The l2 norm's part of a sweep, summed without an error, so that it does not depend on which rank has which cells.
/// Not on the way, but by a pass over both fields.
template <class T>
class ExactNorm {
 public:
  using ExecutionSpace = typename FieldView<T>::execution_space;

  /// Local. For fields of this block.
  explicit ExactNorm(const Block& block) : block_(block), sums_(1), part_("heat/norm part", sums::length) {}

  /// Local; waits for nothing. The next slot = this rank's part of the norm of the sweep from the field `before` to the
  /// field `after`.
  void leave(const ExecutionSpace& instance, const FieldView<T>& before, const FieldView<T>& after,
             const stepping::NormSlots& slots) {
    if (block_.dimensions == 3)
      add<3>(instance, before, after);
    else
      add<2>(instance, before, after);
    sums_.take(instance, part_.data());
    stepping::leave(instance, part_.data(), slots);
  }

 private:
  template <int dimensions>
  void add(const ExecutionSpace& instance, const FieldView<T>& before, const FieldView<T>& after) {
    const auto row = static_cast<std::int64_t>(before.stride(1));
    const auto plane = static_cast<std::int64_t>(before.stride(0));
    const auto& cells = block_.extents;
    sums_.add_rows(instance, 0, cells[2] * cells[1], cells[0],
                   detail::SquaredChange<dimensions, T>{grid::own_cell(before, dimensions),
                                                        grid::own_cell(after, dimensions), row, plane, cells[1]});
  }

  Block block_;
  sums::LocalSums<ExecutionSpace> sums_;
  Kokkos::View<std::int64_t*, typename FieldView<T>::memory_space> part_;
};

} // namespace kontor::heat
