// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/gemm.hpp"
#include "matmul/axis_part.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <utility>

namespace kontor::matmul {

using Space = Kokkos::DefaultExecutionSpace;
using miniapp::Matrix; ///< columns one after the other

/// Memory that blocks of different shapes take in turn.
template <class T>
using Buffer = Kokkos::View<T*>;

/// Local. A matrix in the memory of a buffer, which must outlive it: nothing is counted.
template <class T>
Matrix<T> matrix_in(const Buffer<T>& buffer, std::int64_t rows, std::int64_t columns) {
  return Matrix<T>(buffer.data(), rows, columns);
}

/// Local. Some rows of a matrix, or some columns: those from `begin` to before `end`.
template <class T>
Matrix<T> part_of(const Matrix<T>& matrix, bool rows, std::int64_t begin, std::int64_t end) {
  const std::pair range(begin, end);
  if (rows) return Kokkos::subview(matrix, range, Kokkos::ALL);
  return Kokkos::subview(matrix, Kokkos::ALL, range);
}

/// A rank's part of a matrix.
template <class T>
struct LocalMatrix {
  Matrix<T> elements;
  AxisPart rows;
  AxisPart columns;
};

} // namespace kontor::matmul
