// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kontor::cg {

/// The cost of a kernel, of a preconditioner or of an iteration. Each kernel over rows has its own beside its formula;
/// methods and preconditioners add up those that they launch. Products with the matrix are counted, and what a product
/// costs is left to the format (Matrix::bytes()).
struct Cost {
  double products = 0; ///< with the whole matrix
  double updates = 0;  ///< a row: additions with a multiplication, in updates and sums; 2 flop each
  double reads = 0;    ///< a row: numbers of 8 bytes that are read, each once a kernel, products apart
  double writes = 0;   ///< a row: the same of numbers that are written

  constexpr Cost& operator+=(const Cost& other) {
    products += other.products;
    updates += other.updates;
    reads += other.reads;
    writes += other.writes;
    return *this;
  }
  friend constexpr Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend constexpr Cost operator*(double times, const Cost& c) {
    return {times * c.products, times * c.updates, times * c.reads, times * c.writes};
  }

  /// For so many rows and entries of a matrix, of which a product moves `matrix_bytes`, vectors included.
  double flops(double rows, double entries) const { return 2 * (products * entries + updates * rows); }
  double bytes_read(double rows, double matrix_bytes) const {
    return products * (matrix_bytes - number * rows) + number * reads * rows;
  }
  double bytes_written(double rows) const { return number * (products + writes) * rows; }

 private:
  static constexpr double number = sizeof(double);
};

inline constexpr Cost product_cost{.products = 1};
inline constexpr Cost dot_cost{.updates = 1, .reads = 2};  ///< a loop of its own
inline constexpr Cost norm_cost{.updates = 1, .reads = 1}; ///< the same of a vector with itself
inline constexpr Cost copy_cost{.reads = 1, .writes = 1};

} // namespace kontor::cg
