// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The product of compressed rows and a vector as a textbook has it, on a CPU and on a device. The tuned formats compute
// the same bits.
#include "cg/matrix/dot_apart.hpp"
#include "cg/matrix/matrix.hpp"

#include <Kokkos_Core.hpp>

namespace kontor::cg {

/// Local; waits for nothing. y_i = sum of a_ij x_j over the entries of row i, a work item a row, in the rows of the
/// range. x has own values and ghosts, y own ones.
void plain_product(const Space& instance, const CompressedRows& a, RowRange range, const Vector& x, const Vector& y) {
  Kokkos::parallel_for(
      "cg/plain", Policy(instance, range.begin, range.end), KOKKOS_LAMBDA(std::int64_t i) {
        double sum = 0;
        for (auto entry = a.offsets(i); entry < a.offsets(i + 1); ++entry) sum += a.values(entry) * x(a.columns(entry));
        y(i) = sum;
      });
}

namespace {

class PlainRows final : public DotApart {
 public:
  PlainRows(const CompressedRows& rows, LocalIndex interior)
      : DotApart("cg/plain dot", rows.rows(), interior), matrix_(rows) {}

  void multiply(const Space& instance, Part part, const Vector& x, const Vector& y) const override {
    plain_product(instance, matrix_, range_of(part), x, y);
  }

  double bytes() const override { return bytes_of_product(matrix_); }

 private:
  CompressedRows matrix_;
};

} // namespace

std::unique_ptr<Matrix> make_plain(const CompressedRows& rows, LocalIndex interior) {
  return std::make_unique<PlainRows>(rows, interior);
}

} // namespace kontor::cg
