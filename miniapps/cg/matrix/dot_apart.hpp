// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "stepping/dot.hpp"
#include "stepping/row_sums.hpp"

#include <utility>

namespace kontor::cg {

/// A matrix whose product computes no sum on the way: a kernel of its own does.
class DotApart : public Matrix {
 public:
  /// Local. `label` is that of the dot's kernel; `rows` are all of this rank, the first `interior` of which read no
  /// ghosts.
  DotApart(std::string label, LocalIndex rows, LocalIndex interior)
      : label_(std::move(label)), rows_(rows), interior_(interior) {}

  void multiply_and_dot(const Space& instance, Part part, const Vector& x, const Vector& y, double* sum) const final {
    multiply(instance, part, x, y);
    const auto range = range_of(part);
    for_rows_with_sums<1>(label_, instance, range.count(), DotTerm{x, y, range.begin}, parts_, StoreTo<1>{sum});
  }

 protected:
  RowRange range_of(Part part) const { return cg::range_of(part, rows_, interior_); }

 private:
  std::string label_;
  LocalIndex rows_, interior_;
  TeamParts parts_ = parts_of_rows(1);
};

} // namespace kontor::cg
