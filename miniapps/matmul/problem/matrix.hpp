// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/gemm.hpp"
#include "matmul/algorithm/axis_part.hpp"
#include "random/counter_random.hpp"

#include <Kokkos_Core.hpp>

#include <utility>

/// What elements and vectors are made of random bits.
namespace kontor::matmul {

using random::bits_at;
using random::uniform;

/// The largest integer of matrices of integers.
inline constexpr int largest_integer = 4;

/// From -largest_integer to largest_integer.
KOKKOS_INLINE_FUNCTION int small_integer(std::uint64_t bits) {
  return static_cast<int>((bits >> 32) % (2 * largest_integer + 1)) - largest_integer;
}

/// The largest entry of vectors that a product is verified with.
inline constexpr int largest_entry = 2047;

/// From 1024 to 2047, with a sign: each entry counts, and no two errors cancel but by chance.
KOKKOS_INLINE_FUNCTION double vector_entry(std::uint64_t bits) {
  const auto size = static_cast<double>(1024 + (bits >> 32) % 1024);
  return (bits & 1) != 0 ? size : -size;
}

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
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

/// A rank's part of a matrix.
template <class T>
struct LocalMatrix {
  Matrix<T> elements;
  AxisPart rows;
  AxisPart columns;
};

} // namespace kontor::matmul
