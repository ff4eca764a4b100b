// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/matrix.hpp"
#include "cg/reduce.hpp"

namespace kontor::cg {
namespace {

struct Product {
  CompressedRows a;
  Vector x;

  KOKKOS_FUNCTION double operator()(std::int64_t row) const {
    double sum = 0;
    const auto end = a.offsets(row + 1);
    for (auto e = a.offsets(row); e < end; ++e) sum += a.values(e) * x(a.columns(e));
    return sum;
  }
};

struct Multiply {
  Product product;
  Vector y;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const { y(row) = product(row); }
};

struct MultiplyAndDot {
  Product product;
  Vector y;
  std::int64_t begin;
  KOKKOS_FUNCTION SumsOf<1> operator()(std::int64_t i) const {
    SumsOf<1> sum;
    const auto row = begin + i;
    y(row) = product(row);
    sum[0] = product.x(row) * y(row);
    return sum;
  }
};

class Csr final : public Matrix {
 public:
  Csr(const CompressedRows& rows, LocalIndex interior) : rows_(rows), interior_(interior) {}

  void multiply(const Space& instance, Part part, const Vector& x, const Vector& y) const override {
    const auto range = range_of(part, rows_.rows(), interior_);
    Kokkos::parallel_for("cg/csr", Policy(instance, range.begin, range.end), Multiply{{rows_, x}, y});
  }

  void multiply_and_dot(const Space& instance, Part part, const Vector& x, const Vector& y,
                        double* sum) const override {
    const auto range = range_of(part, rows_.rows(), interior_);
    for_rows_with_sums<1>("cg/csr and dot", instance, range.end - range.begin,
                          MultiplyAndDot{{rows_, x}, y, range.begin}, sums_at<1>(sum));
  }

  double bytes() const override {
    const auto entries = static_cast<double>(rows_.entries());
    const auto rows = static_cast<double>(rows_.rows());
    return entries * (sizeof(double) + sizeof(LocalIndex)) +
           rows * (sizeof(std::int64_t) + 2 * sizeof(double));
  }

 private:
  CompressedRows rows_;
  LocalIndex interior_;
};

} // namespace

std::unique_ptr<Matrix> make_csr(const CompressedRows& rows, LocalIndex interior) {
  return std::make_unique<Csr>(rows, interior);
}

} // namespace kontor::cg
