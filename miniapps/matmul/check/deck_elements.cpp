// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/check/deck_elements.hpp"

#include "machine/user_error.hpp"

#include <kontor/comm/broadcast.hpp>
#include <kontor/output/error.hpp>
#include <kontor/output/values_at.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <limits>

namespace kontor::matmul {
namespace {

constexpr int most_random = 512;

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014): the output that follows a state.
std::uint64_t next(std::uint64_t state) {
  state += 0x9e3779b97f4a7c15;
  state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
  state = (state ^ state >> 27) * 0x94d049bb133111eb;
  return state ^ state >> 31;
}

/// The output after so many others.
std::uint64_t after(std::uint64_t state, std::int64_t others) {
  return next(state + (static_cast<std::uint64_t>(others) - 1) * 0x9e3779b97f4a7c15);
}

} // namespace

DeckMatrix::DeckMatrix(const MatrixOptions& options, miniapp::Precision precision)
    : options_(options), single_(precision == miniapp::Precision::single_precision),
      formula_(options.expression, {}, {"i", "j"}) {}

double DeckMatrix::operator()(std::int64_t i, std::int64_t j) const {
  if (options_.kind == MatrixKind::dataset) return std::numeric_limits<double>::quiet_NaN();
  if (options_.kind == MatrixKind::expression) {
    const double value = formula_(static_cast<double>(i), static_cast<double>(j), 0, 0);
    return single_ ? static_cast<double>(static_cast<float>(value)) : value;
  }
  const auto bits = after(after(next(static_cast<std::uint64_t>(options_.seed)), i), j);
  if (options_.kind == MatrixKind::integers) return static_cast<double>((bits >> 32) % 9) - 4;
  const int digits = single_ ? 24 : 53;
  return std::ldexp(static_cast<double>(bits >> (64 - digits)), 1 - digits) - 1;
}

std::vector<DeckElement> deck_elements(const comm::Communicator& comm, const MatrixOptions& source,
                                       miniapp::Precision precision, const CutMatrix& size, std::mt19937_64& random,
                                       bool values) {
  const auto rows = size.rows, columns = size.columns;
  std::uniform_int_distribution<std::int64_t> row(0, rows - 1), column(0, columns - 1);
  std::vector<DeckElement> elements;
  for (const auto i : {std::int64_t{0}, rows - 1})
    for (const auto j : {std::int64_t{0}, columns - 1}) elements.push_back({i, j});
  const auto cuts = [](std::int64_t n, std::int64_t parts, const auto& add) {
    for (std::int64_t p = 1; p < parts; ++p)
      for (const auto index : {n * p / parts - 1, n * p / parts})
        if (index >= 0) add(index);
  };
  cuts(rows, size.row_parts, [&](std::int64_t i) { elements.push_back({i, column(random)}); });
  cuts(columns, size.column_parts, [&](std::int64_t j) { elements.push_back({row(random), j}); });
  for (int n = 0; n < most_random; ++n) elements.push_back({row(random), column(random)});
  if (!values) return elements;
  if (source.kind != MatrixKind::dataset) {
    const DeckMatrix matrix(source, precision);
    for (auto& element : elements) element.value = matrix(element.i, element.j);
    return elements;
  }
  const Kokkos::View<double*, Kokkos::HostSpace> found("matmul/elements of a file", elements.size());
  std::vector<std::vector<std::uint64_t>> indices;
  for (const auto& [i, j, value] : elements)
    indices.push_back({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
  std::optional<std::string> problem;
  try {
    if (comm.rank() == 0) std::ranges::copy(output::values_at(source.file.path, source.dataset, indices), found.data());
  } catch (const output::Error& error) {
    problem = error.what();
  }
  miniapp::agree_on_user_error(comm, problem, "E-FILE-FORMAT");
  comm::bcast(comm, found, 0);
  for (std::size_t n = 0; n < elements.size(); ++n) elements[n].value = found(n);
  return elements;
}

Home home_of(std::int64_t n, std::int64_t parts, std::int64_t i) {
  const auto part = ((i + 1) * parts - 1) / n; // the last one that begins, at floor(n part / parts), up to i
  return {part, i - n * part / parts};
}

} // namespace kontor::matmul
