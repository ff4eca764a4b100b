// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/check/deck_elements.hpp"
#include "matmul/matrix.hpp"
#include "run/record/result.hpp"
#include "run/verify/places.hpp"
#include "run/verify/read_back.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kontor::matmul {

/// What a run's matrices have at a sample of places, against the deck.
template <class T>
class ElementCheck {
 public:
  /// Collective over `all` ranks, numbered row by row.
  ElementCheck(const comm::Communicator& all, const Options& options, std::uint64_t seed)
      : o_(options), comm_(all.native(), comm::Options{}), random_(miniapp::generator_of(seed, 0)),
        a_(sample(o_.a, stored_a())), b_(sample(o_.b, stored_b())), c_(sample(o_.c, stored_c(), o_.beta != 0)) {}

  /// Collective. A, B and, with a beta, C before a product; without one C is no number.
  miniapp::Verification start(const LocalMatrix<T>& a, const LocalMatrix<T>& b, const LocalMatrix<T>& c) const {
    std::array<std::int64_t, 2> found{}; // elements, those that differ
    const auto compare = [&](const std::vector<DeckElement>& expected, const Stored& stored,
                             const LocalMatrix<T>& matrix, bool is_number) {
      for_own(expected, stored, [&](const DeckElement& e, std::int64_t i, std::int64_t j) {
        const double value = element(matrix, i, j);
        ++found[0];
        found[1] += (is_number ? value == e.value : std::isnan(value)) ? 0 : 1;
      });
    };
    compare(a_, stored_a(), a, true);
    compare(b_, stored_b(), b, true);
    compare(c_, stored_c(), c, o_.beta != 0);
    found = comm::allreduce(comm_, found, comm::ReduceOp::sum);
    const auto all = static_cast<std::int64_t>(a_.size() + b_.size() + c_.size());
    return {.measure = "elements of A, B and C before a repeat that are not the deck's, or are nowhere",
            .error = static_cast<double>(all - found[0] + found[1]),
            .judged = {fmt::format("each repeat: {} elements of A, B and C against the deck", all)}};
  }

  /// Collective. Some elements of C, each by a loop over the deck's elements of A and B. The tolerance bounds rounding
  /// as that of Verifier does.
  miniapp::Verification product(const LocalMatrix<T>& c) const {
    for (const auto* m : {&o_.a, &o_.b, &o_.c})
      if (m->kind == MatrixKind::dataset && (m != &o_.c || o_.beta != 0))
        return {.measure = "nothing", .judged = {"no element of C by itself: of datasets"}};
    const DeckMatrix a(o_.a, o_.precision), b(o_.b, o_.precision);
    constexpr std::int64_t most_terms = 200000;
    const auto count = std::min<std::size_t>(c_.size(), static_cast<std::size_t>(4 + most_terms / o_.size.k));
    const double rounding = static_cast<double>(o_.size.k + 2) * 2 * std::numeric_limits<T>::epsilon();
    double error = 0;
    for_own({c_.begin(), c_.begin() + static_cast<std::ptrdiff_t>(count)}, stored_c(),
            [&](const DeckElement& e, std::int64_t i, std::int64_t j) {
              double sum = o_.beta == 0 ? 0 : o_.beta * e.value, size = std::abs(sum);
              for (std::int64_t l = 0; l < o_.size.k; ++l) {
                const double term = o_.alpha * (o_.transposed_a() ? a(l, e.i) : a(e.i, l)) *
                                    (o_.transposed_b() ? b(e.j, l) : b(l, e.j));
                sum += term;
                size += std::abs(term);
              }
              const double least = static_cast<double>(o_.size.k + 2) * std::numeric_limits<T>::min() *
                                   std::max(1.0, std::abs(o_.alpha)) / rounding; // digits are lost below
              error = miniapp::worst(error, std::abs(element(c, i, j) - sum) / (size + least));
            });
    return {.measure = "elements of C against loops over the deck's elements, beside |A| |B|",
            .error = comm::allreduce(comm_, error, comm::ReduceOp::max),
            .tolerance = rounding,
            .judged = {fmt::format("each repeat: {} elements of C by loops over the deck's elements", count)}};
  }

  /// Local. This rank's elements of the sample.
  std::vector<miniapp::FileValue> in_file(const std::string& dataset, const LocalMatrix<T>& c) const {
    std::vector<miniapp::FileValue> values;
    for_own(c_, stored_c(), [&](const DeckElement& e, std::int64_t i, std::int64_t j) {
      values.push_back({dataset, {static_cast<std::uint64_t>(e.i), static_cast<std::uint64_t>(e.j)}, element(c, i, j)});
    });
    return values;
  }

 private:
  /// A matrix as it is stored; transposed: its columns are cut along the rows of ranks.
  struct Stored {
    MatrixSize size;
    bool transposed;
    std::int64_t row_parts, column_parts;
  };
  Stored stored(const MatrixSize& size, bool transposed) const {
    const auto rows = o_.process_grid[0], columns = o_.process_grid[1];
    return transposed ? Stored{size, true, columns, rows} : Stored{size, false, rows, columns};
  }
  Stored stored_a() const { return stored(o_.stored_a(), o_.transposed_a()); }
  Stored stored_b() const { return stored(o_.stored_b(), o_.transposed_b()); }
  Stored stored_c() const { return stored(o_.stored_c(), false); }

  std::vector<DeckElement> sample(const MatrixOptions& source, const Stored& stored, bool values = true) {
    return deck_elements(comm_, source, o_.precision,
                         {stored.size.rows, stored.row_parts, stored.size.columns, stored.column_parts}, random_,
                         values);
  }
  static double element(const LocalMatrix<T>& matrix, std::int64_t i, std::int64_t j) {
    const auto& all = matrix.elements;
    if (i >= static_cast<std::int64_t>(all.extent(0)) || j >= static_cast<std::int64_t>(all.extent(1))) return INFINITY;
    T value;
    Kokkos::deep_copy(value, Kokkos::subview(all, i, j));
    return static_cast<double>(value);
  }
  /// Calls each(element, i, j) with local indices.
  template <class Each>
  void for_own(const std::vector<DeckElement>& elements, const Stored& stored, const Each& each) const {
    for (const auto& e : elements) {
      const auto row = home_of(stored.size.rows, stored.row_parts, e.i);
      const auto column = home_of(stored.size.columns, stored.column_parts, e.j);
      const auto of_rows = stored.transposed ? column.part : row.part, of_columns = row.part + column.part - of_rows;
      if (comm_.rank() == of_rows * o_.process_grid[1] + of_columns) each(e, row.local, column.local);
    }
  }

  const Options& o_;
  comm::Communicator comm_; ///< of the baseline
  std::mt19937_64 random_;
  std::vector<DeckElement> a_, b_, c_;
};

} // namespace kontor::matmul
