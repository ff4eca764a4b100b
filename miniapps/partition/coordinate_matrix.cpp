// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/coordinate_matrix.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace kontor::partition {
namespace {

constexpr double rounding = 1e-12;

/// As people count.
std::string place(const Entry& entry) { return fmt::format("({}, {})", entry.row + 1, entry.column + 1); }

/// The diagonal, all of it above 0.
std::vector<double> positive_diagonal(const CoordinateMatrix& matrix) {
  std::vector<double> diagonal(static_cast<std::size_t>(matrix.rows), 0);
  for (const auto& entry : matrix.entries) {
    if (entry.row != entry.column) continue;
    if (!(entry.value > 0))
      fail_at(matrix.source, entry.line,
              fmt::format("the diagonal entry {} is {}, so the matrix is not positive definite, which cg "
                          "needs: all diagonal entries must be above 0",
                          place(entry), entry.value));
    diagonal[static_cast<std::size_t>(entry.row)] = entry.value;
  }
  const auto missing = std::find(diagonal.begin(), diagonal.end(), 0.0);
  if (missing != diagonal.end()) {
    const auto row = missing - diagonal.begin() + 1;
    fail_at(matrix.source, 0,
            fmt::format("the diagonal entry ({0}, {0}) is missing, so the matrix is not positive definite, "
                        "which cg needs: all diagonal entries must be there and above 0",
                        row));
  }
  return diagonal;
}

/// Of a general matrix. Going through it, the entries of a row left of the diagonal meet their counterparts in their
/// own order, because these are above the diagonal in the rows before. An entry that is not there is 0; what has no
/// counterpart is left out.
void require_counterparts(CoordinateMatrix& matrix, const std::vector<double>& diagonal) {
  auto& entries = matrix.entries;
  std::vector<std::size_t> next(diagonal.size()); // the first that is not yet met, in each row
  for (auto e = entries.size(); e-- > 0;) next[static_cast<std::size_t>(entries[e].row)] = e;
  std::vector<bool> alone(entries.size(), false);
  const auto equal = [&](double value, const Entry& entry) {
    return std::abs(value - entry.value) <= rounding * std::sqrt(diagonal[static_cast<std::size_t>(entry.row)]) *
                                                std::sqrt(diagonal[static_cast<std::size_t>(entry.column)]);
  };
  const auto leave_out = [&](std::size_t e) {
    const auto& entry = entries[e];
    if (!equal(0, entry))
      fail_at(matrix.source, entry.line,
              fmt::format("entry {} is {}, but there is no entry ({}, {}): cg needs a symmetric matrix", place(entry),
                          entry.value, entry.column + 1, entry.row + 1));
    alone[e] = true;
  };
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto& entry = entries[e];
    if (entry.column < entry.row) continue;
    auto& of_column = next[static_cast<std::size_t>(entry.column)];
    while (entries[of_column].column < entry.row) leave_out(of_column++);
    const auto& other = entries[of_column];
    if (entry.row == entry.column) continue; // which it is itself
    if (other.column != entry.row) {
      leave_out(e);
      continue;
    }
    if (!equal(entry.value, other))
      fail_at(matrix.source, other.line,
              fmt::format("entry {} is {}, but {} of line {} is {}: cg needs a symmetric matrix", place(other),
                          other.value, place(entry), entry.line, entry.value));
    ++of_column;
  }
  std::erase_if(entries, [&](const Entry& entry) { return alone[static_cast<std::size_t>(&entry - entries.data())]; });
}

} // namespace

std::int64_t CoordinateMatrix::nonzeros() const {
  const auto given = static_cast<std::int64_t>(entries.size());
  if (!symmetric) return given;
  return 2 * given -
         std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.row == entry.column; });
}

void fail_at(const std::string& source, std::int64_t line, const std::string& message, errors::Id id) {
  throw config::Error(
      {line > 0 ? fmt::format("{}:{}: {}", source, line, message) : fmt::format("{}: {}", source, message)}, id);
}

void sort_entries(CoordinateMatrix& matrix) {
  const auto less = [](const Entry& a, const Entry& b) {
    return std::tie(a.row, a.column, a.line) < std::tie(b.row, b.column, b.line);
  };
  auto& entries = matrix.entries;
  if (!std::is_sorted(entries.begin(), entries.end(), less)) std::sort(entries.begin(), entries.end(), less);
  const auto twice = std::adjacent_find(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row == b.row && a.column == b.column;
  });
  if (twice == entries.end()) return;
  fail_at(
      matrix.source, (twice + 1)->line,
      fmt::format("entry {} is given twice; the first is at line {}; remove one of them", place(*twice), twice->line));
}

void require_symmetric_with_positive_diagonal(CoordinateMatrix& matrix) {
  const auto diagonal = positive_diagonal(matrix);
  if (!matrix.symmetric) require_counterparts(matrix, diagonal);
}

} // namespace kontor::partition
