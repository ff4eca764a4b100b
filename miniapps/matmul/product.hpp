// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace kontor::matmul {

enum class Operation { none, transpose };
enum class Gemm { vendor, plain };

/// Sizes of a product: op(A) is m x k, op(B) k x n, C m x n.
struct ProductSize {
  std::int64_t m = 1024;
  std::int64_t n = 1024;
  std::int64_t k = 1024;

  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

/// The extents of a matrix as it is stored.
struct MatrixSize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// C = alpha op(A) op(B) + beta C.
struct Product {
  ProductSize size;
  double alpha = 1;
  double beta = 0;
  Operation op_a = Operation::none;
  Operation op_b = Operation::none;
  Gemm gemm = Gemm::vendor;

  bool transposed_a() const { return op_a == Operation::transpose; }
  bool transposed_b() const { return op_b == Operation::transpose; }
  MatrixSize stored_a() const { return transposed_a() ? MatrixSize{size.k, size.m} : MatrixSize{size.m, size.k}; }
  MatrixSize stored_b() const { return transposed_b() ? MatrixSize{size.n, size.k} : MatrixSize{size.k, size.n}; }
  MatrixSize stored_c() const { return {size.m, size.n}; }
};

/// The process grid, and where a rank is in it. Ranks are numbered row by row.
struct GridShape {
  int rows = 1;
  int columns = 1;
};
struct GridPlace {
  int row = 0;
  int column = 0;
};

} // namespace kontor::matmul
