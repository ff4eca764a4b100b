// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/lanes.hpp"
#include "cg/matrix/matrix.hpp"
#include "cg/matrix/product.hpp"

namespace kontor::cg {
namespace {

struct CsrKernel {
  const std::int64_t* offsets;
  const LocalIndex* columns;
  const double* values;
  const double* x;
  double* y;

  KOKKOS_FUNCTION std::int64_t row_of(std::int64_t position) const { return position; }

  template <class Member>
  KOKKOS_FUNCTION double sum(const Member& team, std::int64_t, std::int64_t row) const {
    const auto first = offsets[row];
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, static_cast<int>(offsets[row + 1] - first)),
        [&](int e, double& part) { part += values[first + e] * x[columns[first + e]]; }, sum);
    return sum;
  }

  /// Two rows at a time, from the two halves of the block: an addition need not wait for the one before, and
  /// memory is read in twice as many streams.
  template <bool with_dot>
  double block(std::int64_t begin, std::int64_t end) const {
    const auto half = (end - begin) / 2;
    double dots[2] = {};
    for (auto row = begin; row < begin + half; ++row) {
      const std::int64_t rows[2] = {row, row + half};
      double sums[2];
      two(rows, sums);
      for (int r = 0; r < 2; ++r) {
        y[rows[r]] = sums[r];
        if constexpr (with_dot) dots[r] += x[rows[r]] * sums[r];
      }
    }
    if (begin + 2 * half < end) {
      const auto row = end - 1;
      y[row] = rest(0, offsets[row], offsets[row + 1]);
      if constexpr (with_dot) dots[0] += x[row] * y[row];
    }
    return dots[0] + dots[1];
  }

  void two(const std::int64_t (&rows)[2], double (&sums)[2]) const {
    constexpr int line = 8, ahead = prefetch_bytes / static_cast<int>(sizeof(double));
    const auto a = offsets[rows[0]], b = offsets[rows[1]];
    const auto of_a = offsets[rows[0] + 1] - a, of_b = offsets[rows[1] + 1] - b;
    const auto common = of_a < of_b ? of_a : of_b;
    double sum_a = 0, sum_b = 0;
    std::int64_t e = 0;
    const auto add = [&](std::int64_t at) {
      sum_a += values[a + at] * x[columns[a + at]];
      sum_b += values[b + at] * x[columns[b + at]];
    };
    for (; e + line <= common; e += line) {
      prefetch(values + a + e + ahead);
      prefetch(values + b + e + ahead);
      prefetch(columns + a + e + ahead);
      prefetch(columns + b + e + ahead);
#pragma GCC unroll 8
      for (int k = 0; k < line; ++k) add(e + k);
    }
    for (; e < common; ++e) add(e);
    sums[0] = rest(sum_a, a + common, a + of_a);
    sums[1] = rest(sum_b, b + common, b + of_b);
  }

  double rest(double sum, std::int64_t begin, std::int64_t end) const {
    for (auto e = begin; e < end; ++e) sum += values[e] * x[columns[e]];
    return sum;
  }
};

struct Csr {
  using Kernel = CsrKernel;
  static constexpr const char* label = "cg/csr";
  static constexpr int most_lanes = 32;
  CompressedRows rows;
  LocalIndex interior;

  Kernel kernel(const double* x, double* y) const {
    return {rows.offsets.data(), rows.columns.data(), rows.values.data(), x, y};
  }
  Positions positions(Part part) const {
    const auto range = range_of(part, rows.rows(), interior);
    return {range.begin, range.end};
  }
  double bytes() const {
    return static_cast<double>(rows.entries()) * (sizeof(double) + sizeof(LocalIndex)) +
           static_cast<double>(rows.rows()) * (sizeof(std::int64_t) + 2 * sizeof(double));
  }
};

} // namespace

std::unique_ptr<Matrix> make_csr(const CompressedRows& rows, LocalIndex interior,
                                 const ProductTuning& tuning) {
  return std::make_unique<Product<Csr>>(Csr{rows, interior}, tuning);
}

} // namespace kontor::cg
