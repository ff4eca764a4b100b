// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/compressed_rows.hpp"
#include "cg/partition.hpp"

#include <memory>
#include <string>

namespace kontor::cg {

/// Which own rows: those that read no ghosts, the others, or all.
enum class Part { interior, boundary, all };

/// The half-open range of a part.
struct RowRange {
  LocalIndex begin = 0;
  LocalIndex end = 0;
};
inline RowRange range_of(Part part, LocalIndex own, LocalIndex interior) {
  return {part == Part::boundary ? interior : 0, part == Part::interior ? interior : own};
}

/// A rank's rows in some format. Every format sums a row in the order of its entries, so that all give the
/// same bits.
class Matrix {
 public:
  virtual ~Matrix() = default;

  /// Local; waits for nothing. y = A x in the rows of that part. x has own values and ghosts, y own ones.
  virtual void multiply(const Space&, Part, const Vector& x, const Vector& y) const = 0;

  /// Local; waits for nothing. The same, and *sum = x.y over these rows, in the memory of the space.
  virtual void multiply_and_dot(const Space&, Part, const Vector& x, const Vector& y, double* sum) const = 0;

  /// Bytes of this rank that a product must move: the format, each vector once.
  virtual double bytes() const = 0;
};

/// Local. The formats. `rows` are this rank's, the first `interior` of which read no ghosts.
std::unique_ptr<Matrix> make_csr(const CompressedRows& rows, LocalIndex interior);

} // namespace kontor::cg
