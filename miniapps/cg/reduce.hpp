// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/vector.hpp"

#include <kontor/comm/kokkos/compat.hpp>

#include <Kokkos_Core.hpp>

#include <string>

/// Loops over rows that leave sums.
namespace kontor::cg {

/// Several sums.
template <int count>
struct SumsOf {
  double value[count];
  KOKKOS_INLINE_FUNCTION SumsOf() {
    for (auto& v : value) v = 0;
  }
  KOKKOS_INLINE_FUNCTION SumsOf& operator+=(const SumsOf& other) {
    for (int k = 0; k < count; ++k) value[k] += other.value[k];
    return *this;
  }
  KOKKOS_INLINE_FUNCTION double& operator[](int k) { return value[k]; }
  KOKKOS_INLINE_FUNCTION double operator[](int k) const { return value[k]; }
};

namespace detail {

template <class Row>
concept HasScalars = requires(const Row& row) {
  row.scalars();
};
struct NoScalars {};

template <class Row>
KOKKOS_INLINE_FUNCTION auto scalars_of(const Row& row) {
  if constexpr (HasScalars<Row>)
    return row.scalars();
  else
    return NoScalars{};
}
template <class Row, class Scalars>
KOKKOS_INLINE_FUNCTION auto call_row(const Row& row, std::int64_t i, const Scalars& scalars) {
  if constexpr (HasScalars<Row>)
    return row(i, scalars);
  else
    return row(i);
}

/// What a host does in one piece.
inline constexpr std::int64_t chunk_rows = 4096;

template <class Row>
struct ChunksOfRows {
  Row row;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const {
    const auto begin = chunk * chunk_rows, end = begin + chunk_rows < rows ? begin + chunk_rows : rows;
    const auto scalars = scalars_of(row);
#pragma GCC ivdep
    for (auto i = begin; i < end; ++i) call_row(row, i, scalars);
  }
};

template <class Row>
struct EachRow {
  Row row;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { call_row(row, i, scalars_of(row)); }
};

/// On a host a row after the other would wait for each addition; here lanes go side by side.
template <int count, class Row>
struct InLanes {
  static constexpr std::int64_t lanes = 16;
  Row row;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t chunk, SumsOf<count>& sums) const {
    const auto begin = chunk * chunk_rows, end = begin + chunk_rows < rows ? begin + chunk_rows : rows;
    const auto scalars = scalars_of(row);
    double parts[count][lanes] = {};
    auto i = begin;
    for (; i + lanes <= end; i += lanes) {
#pragma GCC ivdep
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const auto terms = call_row(row, i + lane, scalars);
        for (int k = 0; k < count; ++k) parts[k][lane] += terms.value[k];
      }
    }
    for (; i < end; ++i) {
      const auto terms = call_row(row, i, scalars);
      for (int k = 0; k < count; ++k) parts[k][i % lanes] += terms.value[k];
    }
    for (int k = 0; k < count; ++k) {
      double sum = 0;
      for (const auto part : parts[k]) sum += part;
      sums.value[k] += sum;
    }
  }
};

template <int count, class Row>
struct OneByOne {
  Row row;
  KOKKOS_FUNCTION void operator()(std::int64_t i, SumsOf<count>& sums) const {
    sums += call_row(row, i, scalars_of(row));
  }
};

} // namespace detail
} // namespace kontor::cg

namespace Kokkos {
template <int count>
struct reduction_identity<kontor::cg::SumsOf<count>> {
  KOKKOS_FORCEINLINE_FUNCTION static kontor::cg::SumsOf<count> sum() { return {}; }
};
} // namespace Kokkos

namespace kontor::cg {

/// Where so many sums go: `count` numbers in the memory of the space that begin there.
template <int count>
using SumsView = Kokkos::View<SumsOf<count>, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <int count>
SumsView<count> sums_at(double* first) {
  static_assert(sizeof(SumsOf<count>) == count * sizeof(double));
  return SumsView<count>(reinterpret_cast<SumsOf<count>*>(first));
}

/// Local; waits for nothing. Calls row(i) for the rows from 0 on; what it returns is lost.
template <class Row>
void for_rows(const std::string& label, const Space& instance, std::int64_t rows, const Row& row) {
  if constexpr (comm::on_host<Space>) {
    const auto chunks = (rows + detail::chunk_rows - 1) / detail::chunk_rows;
    Kokkos::parallel_for(label, Policy(instance, 0, chunks), detail::ChunksOfRows<Row>{row, rows});
  } else {
    Kokkos::parallel_for(label, Policy(instance, 0, rows), detail::EachRow<Row>{row});
  }
}

/// Local; waits for nothing. Calls row(i), which returns SumsOf<count>, for the rows from 0 on, and puts the
/// sums of what it returns into `sums`. row() may write what belongs to its row. The order of additions
/// depends on the number of rows alone.
template <int count, class Row>
void for_rows_with_sums(const std::string& label, const Space& instance, std::int64_t rows, const Row& row,
                        const SumsView<count>& sums) {
  using Sum = Kokkos::Sum<SumsOf<count>, typename Space::memory_space>;
  if constexpr (comm::on_host<Space>) {
    const auto chunks = (rows + detail::chunk_rows - 1) / detail::chunk_rows;
    Kokkos::parallel_reduce(label, Policy(instance, 0, chunks), detail::InLanes<count, Row>{row, rows},
                            Sum(sums));
  } else {
    Kokkos::parallel_reduce(label, Policy(instance, 0, rows), detail::OneByOne<count, Row>{row}, Sum(sums));
  }
}

} // namespace kontor::cg
