// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/axis_parts.hpp"
#include "machine/gemm.hpp"

#include <Kokkos_Core.hpp>

#include <utility>

namespace kontor::matmul {

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
using grid::AxisRange;
using grid::part_begin;
using miniapp::Matrix; ///< columns one after the other

/// Memory that blocks of different shapes take in turn.
template <class T>
using Buffer = Kokkos::View<T*>;

/// Local. A matrix in the memory of a buffer, which must outlive it: nothing is counted.
template <class T>
Matrix<T> matrix_in(const Buffer<T>& buffer, std::int64_t rows, std::int64_t columns) {
  return Matrix<T>(buffer.data(), rows, columns);
}

/// Local. The indices of k from `begin` to before `end` of a block that is numbered along k by its rows, or by its
/// columns.
template <class T>
Matrix<T> along_k(const Matrix<T>& block, bool k_is_rows, std::int64_t begin, std::int64_t end) {
  const std::pair range(begin, end);
  if (k_is_rows) return Kokkos::subview(block, range, Kokkos::ALL);
  return Kokkos::subview(block, Kokkos::ALL, range);
}

/// Part `index` of n indices that are cut into `parts`.
inline AxisRange part_of(std::int64_t n, std::int64_t parts, std::int64_t index) {
  return {part_begin(n, parts, index), part_begin(n, parts, index + 1)};
}

/// A rank's part of a matrix, and which rows and columns it has.
template <class T>
struct LocalMatrix {
  Matrix<T> elements;
  AxisRange rows;
  AxisRange columns;
};

} // namespace kontor::matmul
