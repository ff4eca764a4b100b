// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/compressed_rows.hpp"
#include "cg/names.hpp"

#include <kontor/device/compat.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kontor::cg {

struct ThreadRows;

/// Which own rows: those that read no ghosts, the others, or all.
enum class Part { interior, boundary, all };

/// A half-open range of rows, or of positions: what a format counts its rows by, padding included.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - begin; }
};
inline RowRange range_of(Part part, std::int64_t own, std::int64_t interior) {
  return {part == Part::boundary ? interior : 0, part == Part::interior ? interior : own};
}

/// How many parts of b hold a.
inline std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A rank's rows in some format.
///
/// Every format sums a row in the order of its entries, so that all give the same bits, on a processor as on a device,
/// whatever the partition.
class Matrix {
 public:
  virtual ~Matrix() = default;

  /// Local; waits for nothing. y = A x in the rows of that part. x has own values and ghosts, y own ones.
  virtual void multiply(const Space&, Part, const Vector& x, const Vector& y) const = 0;

  /// Local; waits for nothing. The same, and *sum = x.y over these rows, in the memory of the space. The order of
  /// additions depends on the numbers of rows alone.
  virtual void multiply_and_dot(const Space&, Part, const Vector& x, const Vector& y, double* sum) const = 0;

  /// Local. Products that are queued from now on do nothing where kernels find a number other than 0 there, but for a
  /// host's loops; null: all are made.
  void skip_if(const int* number) const { skip_if_ = number; }

  /// Local. Rows that each thread sums by itself, for kernels of many products (thread_rows.hpp); null: none.
  virtual const ThreadRows* thread_rows() const { return nullptr; }

  /// Positions of this rank's rows that kernels number by 32 bits; 0: they number none so.
  virtual std::int64_t positions() const { return 0; }

  /// Bytes of this rank that a product must move: the format, each vector once.
  virtual double bytes() const = 0;

 protected:
  mutable const int* skip_if_ = nullptr;
};

/// How rows are given to threads; the defaults are what runs use.
struct ProductTuning {
  bool teams = !device::kernels_on_host; ///< a thread a row, as always on a device; or blocks of rows
  int staged = 3840; ///< csr: entries that a team has in its scratch memory, at most; 48 KiB hold them
};

/// Local. Compressed rows as they are. `rows` are this rank's, the first `interior` of which read no ghosts.
std::unique_ptr<Matrix> make_csr(const CompressedRows& rows, LocalIndex interior, const ProductTuning& = {});

/// Local; waits. SELL-C-sigma (sell.hpp). `columns`: own rows and ghosts. `rows` are copied.
std::unique_ptr<Matrix> make_sell(const CompressedRows& rows, LocalIndex interior, LocalIndex columns,
                                  const ProductTuning& = {});

/// The most positions of a rank that kernels number. Half of what 32 bits hold: a thread's last step ends beyond them
/// by as much as all teams have at a time.
inline constexpr std::int64_t most_positions = (std::int64_t{1} << 31) - (1 << 16);

/// Local. What is wrong if a format numbers so many positions for the rows of a rank; nothing if they fit.
std::optional<std::string> excess_of_positions(int rank, LocalIndex rows, std::int64_t positions);

} // namespace kontor::cg
