// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace kontor::cg::test {

CoordinateMatrix shuffled_grid(std::int64_t n, bool is_symmetric, unsigned seed) {
  std::vector<std::int64_t> number(n * n);
  std::iota(number.begin(), number.end(), 0);
  std::mt19937 random(seed);
  for (auto i = number.size(); i-- > 1;) std::swap(number[i], number[random() % (i + 1)]);
  CoordinateMatrix matrix{.source = "made.mtx", .rows = n * n, .symmetric = is_symmetric, .entries = {}};
  const auto add = [&](std::int64_t a, std::int64_t b, double value) {
    a = number[a];
    b = number[b];
    if (a == b || !is_symmetric) matrix.entries.push_back({a, b, value, 1});
    if (a != b && !is_symmetric) matrix.entries.push_back({b, a, value, 1});
    if (a != b && is_symmetric) matrix.entries.push_back({std::max(a, b), std::min(a, b), value, 1});
  };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto point = i + n * j;
      add(point, point, 5 + 0.1 * std::sin(static_cast<double>(point)));
      if (i > 0) add(point, point - 1, -1 + 0.01 * std::cos(static_cast<double>(point)));
      if (j > 0) add(point, point - n, -1 + 0.01 * std::sin(static_cast<double>(point)));
    }
  sort_entries(matrix);
  require_symmetric_with_positive_diagonal(matrix);
  return matrix;
}

std::string text_of(const CoordinateMatrix& matrix) {
  auto text = fmt::format("{}{} {} {}\n", matrix.symmetric ? header::symmetric : header::general, matrix.rows,
                          matrix.rows, matrix.entries.size());
  for (const auto& e : matrix.entries) text += fmt::format("{} {} {}\n", e.row + 1, e.column + 1, e.value);
  return text;
}

std::string write(const miniapp::test::Folder& folder, const std::string& name, const std::string& text) {
  if (miniapp::test::world_rank() == 0) std::ofstream(folder / name, std::ios::binary) << text;
  MPI_Barrier(MPI_COMM_WORLD);
  return folder / name;
}

double number_of(std::int64_t row) { return std::sin(static_cast<double>(3 * row + 1)); }

} // namespace kontor::cg::test
