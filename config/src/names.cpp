// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "names.hpp"

#include <kontor/config/limits.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace kontor::config {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = above;
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

} // namespace

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  if (name.size() > limits::name_to_guess) return best;
  std::size_t least = std::min<std::size_t>(2, name.size() / 2) + 1; // one mistake in two or three letters, else two
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string listing(const std::vector<std::string>& names, std::string_view last) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} {} {}", fmt::join(names.begin(), names.end() - 1, ", "), last, names.back());
}

} // namespace kontor::config
