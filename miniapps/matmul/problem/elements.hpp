// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/view_output.hpp"
#include "machine/user_error.hpp"
#include "matmul/matrix.hpp"
#include "matmul/options.hpp"
#include "random/counter_random.hpp"

#include <kontor/config/function.hpp>
#include <kontor/config/text.hpp>
#include <kontor/output/error.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <fmt/format.h>

#include <cmath>

/// The elements of matrices, as they are given: where they come from, and how they go to HDF5 files, as 2-D datasets of
/// rows and columns, element (i, j) at [i, j].
namespace kontor::matmul {

/// From -largest_integer to largest_integer.
KOKKOS_INLINE_FUNCTION int small_integer(std::uint64_t bits) {
  return static_cast<int>((bits >> 32) % (2 * largest_integer + 1)) - largest_integer;
}

namespace detail {

template <class T>
void fill_random(const MatrixOptions& options, const LocalMatrix<T>& matrix) {
  const Space instance;
  const auto seed = static_cast<std::uint64_t>(options.seed);
  const bool integers = options.kind == MatrixKind::integers;
  Kokkos::parallel_for(
      "matmul/fill", Range(instance, 0, matrix.rows.size() * matrix.columns.size()), KOKKOS_LAMBDA(std::int64_t n) {
        const auto i = n % matrix.rows.size(), j = n / matrix.rows.size();
        const auto bits = random::bits_at(seed, matrix.rows.begin + i, matrix.columns.begin + j);
        matrix.elements(i, j) = integers ? static_cast<T>(small_integer(bits)) : random::uniform<T>(bits);
      });
  device::fence(instance, "matmul/filled");
}

/// Column by column on the host.
template <class T>
void fill_formula(const config::Expression& formula, const LocalMatrix<T>& matrix) {
  const config::Function function(formula, {}, {"i", "j"});
  std::vector<double> rows(static_cast<std::size_t>(matrix.rows.size())), values(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<double>(matrix.rows.begin + static_cast<std::int64_t>(i));
  const Kokkos::View<T*, Kokkos::HostSpace> column("matmul/column", rows.size());
  for (std::int64_t j = 0; j < matrix.columns.size(); ++j) {
    function.evaluate(rows, static_cast<double>(matrix.columns.begin + j), 0, 0, values);
    std::copy(values.begin(), values.end(), column.data());
    Kokkos::deep_copy(Kokkos::subview(matrix.elements, Kokkos::ALL, j), column);
  }
}

/// Column by column on the host. Which of the elements of `what` is not finite, if one is.
template <class T>
std::optional<std::string> not_finite(const std::string& what, const LocalMatrix<T>& matrix) {
  const Kokkos::View<T*, Kokkos::HostSpace> column("matmul/column", matrix.elements.extent(0));
  for (std::int64_t j = 0; j < matrix.columns.size(); ++j) {
    Kokkos::deep_copy(column, Kokkos::subview(matrix.elements, Kokkos::ALL, j));
    for (std::int64_t i = 0; i < matrix.rows.size(); ++i)
      if (!std::isfinite(column(i)))
        return fmt::format("{} is {} at i = {}, j = {}; it must be finite for all elements", what, column(i),
                           matrix.rows.begin + i, matrix.columns.begin + j);
  }
  return {};
}

template <class T>
output::Block block_of(const MatrixSize& size, const LocalMatrix<T>& matrix) {
  const auto unsigned_of = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  return {{unsigned_of(size.rows), unsigned_of(size.columns)},
          {unsigned_of(matrix.rows.begin), unsigned_of(matrix.columns.begin)},
          {unsigned_of(matrix.rows.size()), unsigned_of(matrix.columns.size())}};
}

} // namespace detail

/// Collective. Gives a matrix the elements that the deck says, the same whoever has which. Waits. Throws config::Error
/// on all ranks, with the place in the deck, if a formula is not finite, or a dataset not as it must be.
template <class T>
void fill(const comm::Communicator& comm, const MatrixOptions& source, const MatrixSize& size,
          const LocalMatrix<T>& matrix) {
  std::string what;
  if (source.kind == MatrixKind::dataset) {
    try {
      const output::Reader reader(comm.native(), source.file.path);
      grid::read_view(reader, source.dataset, detail::block_of(size, matrix), matrix.elements);
    } catch (const output::Error& error) {
      source.location.fail(error.what(), "E-FILE-FORMAT");
    }
    what = fmt::format("{} {} of {}", source.location.text(), source.dataset, source.file.path);
  } else if (source.kind == MatrixKind::expression) {
    detail::fill_formula(source.expression, matrix);
    what = source.expression.location().text() + " " + config::in_quotes(source.expression.text());
  } else {
    return detail::fill_random(source, matrix);
  }
  miniapp::agree_on_user_error(comm, detail::not_finite(what, matrix), "E-DECK-EXPRESSION");
}

/// Collective. Writes a matrix.
template <class T>
void write_matrix(output::File& file, const std::string& name, const MatrixSize& size, const LocalMatrix<T>& matrix) {
  grid::write_view(file, name, detail::block_of(size, matrix), matrix.elements);
}

} // namespace kontor::matmul
