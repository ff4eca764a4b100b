// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/coordinate_matrix.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace kontor::cg {
namespace {

constexpr double rounding = 1e-12;

/// As people count.
std::string place(const Entry& entry) {
  return fmt::format("({}, {})", entry.row + 1, entry.column + 1);
}

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

[[noreturn]] void fail_without_counterpart(const CoordinateMatrix& matrix, const Entry& entry) {
  fail_at(matrix.source, entry.line,
          fmt::format("entry {} is {}, but there is no entry ({}, {}): cg needs a symmetric matrix",
                      place(entry), entry.value, entry.column + 1, entry.row + 1));
}

/// Going through a general matrix, the entries of a row left of the diagonal meet their counterparts in their
/// own order, because these are above the diagonal in the rows before.
void require_counterparts(const CoordinateMatrix& matrix, const std::vector<double>& diagonal) {
  const auto& entries = matrix.entries;
  std::vector<std::size_t> next(diagonal.size(), entries.size()); // entry of each row that is not yet met
  for (std::size_t e = entries.size(); e-- > 0;) next[static_cast<std::size_t>(entries[e].row)] = e;
  for (const auto& entry : entries) {
    const auto row = static_cast<std::size_t>(entry.row);
    if (entry.row == entry.column) {
      if (&entries[next[row]] != &entry) fail_without_counterpart(matrix, entries[next[row]]);
    } else if (entry.column > entry.row) {
      const auto column = static_cast<std::size_t>(entry.column);
      const auto& other = entries[next[column]];
      if (other.column != entry.row)
        fail_without_counterpart(matrix, other.column < entry.row ? other : entry);
      if (std::abs(entry.value - other.value) >
          rounding * std::sqrt(diagonal[row]) * std::sqrt(diagonal[column]))
        fail_at(matrix.source, other.line,
                fmt::format("entry {} is {}, but {} of line {} is {}: cg needs a symmetric matrix",
                            place(other), other.value, place(entry), entry.line, entry.value));
      ++next[column];
    }
  }
}

} // namespace

std::int64_t CoordinateMatrix::nonzeros() const {
  const auto given = static_cast<std::int64_t>(entries.size());
  if (!symmetric) return given;
  return 2 * given - std::count_if(entries.begin(), entries.end(),
                                   [](const Entry& entry) { return entry.row == entry.column; });
}

void fail_at(const std::string& source, std::int64_t line, const std::string& message) {
  throw config::Error(
      {line > 0 ? fmt::format("{}:{}: {}", source, line, message) : fmt::format("{}: {}", source, message)});
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
  fail_at(matrix.source, (twice + 1)->line,
          fmt::format("entry {} is given twice; the first is at line {}", place(*twice), twice->line));
}

void require_symmetric_with_positive_diagonal(const CoordinateMatrix& matrix) {
  const auto diagonal = positive_diagonal(matrix);
  if (!matrix.symmetric) require_counterparts(matrix, diagonal);
}

} // namespace kontor::cg
