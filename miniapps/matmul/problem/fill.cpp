// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/problem/fill.hpp"

#include "machine/user_error.hpp"
#include "matmul/problem/dataset.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/config/function.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace kontor::matmul {

template <class T>
struct FillRandom {
  LocalMatrix<T> matrix;
  std::uint64_t seed;
  bool integers;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    const auto rows = matrix.rows.size;
    const auto i = n % rows, j = n / rows;
    const auto bits = bits_at(seed, matrix.rows.global(i), matrix.columns.global(j));
    matrix.elements(i, j) = integers ? static_cast<T>(small_integer(bits)) : uniform<T>(bits);
  }
};

namespace {

template <class T>
void fill_random(const MatrixOptions& options, const LocalMatrix<T>& matrix) {
  const Space instance;
  Kokkos::parallel_for(
      "matmul/fill",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, matrix.rows.size * matrix.columns.size),
      FillRandom<T>{matrix, static_cast<std::uint64_t>(options.seed), options.kind == MatrixKind::integers});
  device::fence(instance, "matmul/filled");
}

/// Column by column on the host.
template <class T>
void fill_formula(const config::Expression& formula, const LocalMatrix<T>& matrix) {
  const config::Function function(formula, {}, {"i", "j"});
  std::vector<double> rows(static_cast<std::size_t>(matrix.rows.size)), values(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<double>(matrix.rows.global(static_cast<std::int64_t>(i)));
  const Kokkos::View<T*, Kokkos::HostSpace> column("matmul/column", rows.size());
  for (std::int64_t j = 0; j < matrix.columns.size; ++j) {
    function.evaluate(rows, static_cast<double>(matrix.columns.global(j)), 0, 0, values);
    std::copy(values.begin(), values.end(), column.data());
    Kokkos::deep_copy(Kokkos::subview(matrix.elements, Kokkos::ALL, j), column);
  }
}

/// Column by column on the host. Which of the elements of `what` is not finite, if one is.
template <class T>
std::optional<std::string> not_finite(const std::string& what, const LocalMatrix<T>& matrix) {
  const Kokkos::View<T*, Kokkos::HostSpace> column("matmul/column", matrix.elements.extent(0));
  for (std::int64_t j = 0; j < matrix.columns.size; ++j) {
    Kokkos::deep_copy(column, Kokkos::subview(matrix.elements, Kokkos::ALL, j));
    for (std::int64_t i = 0; i < matrix.rows.size; ++i)
      if (!std::isfinite(column(i)))
        return fmt::format("{} is {} at i = {}, j = {}; it must be finite for all elements", what, column(i),
                           matrix.rows.global(i), matrix.columns.global(j));
  }
  return {};
}

} // namespace

template <class T>
void fill(const ProcessGrid& grid, const Options& options, const MatrixOptions& source, const StoredSize& size,
          const LocalMatrix<T>& matrix) {
  std::string what;
  if (source.kind == MatrixKind::dataset) {
    read_matrix(grid, options, source, size, matrix);
    what = fmt::format("{} {} of {}", source.location.text(), source.dataset, source.file.path);
  } else if (source.kind == MatrixKind::expression) {
    fill_formula(source.expression, matrix);
    what = source.expression.location().text() + " " + config::in_quotes(source.expression.text());
  } else {
    return fill_random(source, matrix);
  }
  miniapp::agree_on_user_error(grid.all, not_finite(what, matrix), "E-DECK-EXPRESSION");
}

template void fill(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&,
                   const LocalMatrix<float>&);
template void fill(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&,
                   const LocalMatrix<double>&);

} // namespace kontor::matmul
