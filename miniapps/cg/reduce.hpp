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

/// On a host a row after the other would wait for each addition; here lanes go side by side.
template <int count, class Row>
struct InLanes {
  static constexpr std::int64_t lanes = 16;
  Row row;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t chunk, SumsOf<count>& sums) const {
    constexpr std::int64_t size = chunk_size;
    const auto begin = chunk * size, end = begin + size < rows ? begin + size : rows;
    double parts[count][lanes] = {};
    auto i = begin;
    for (; i + lanes <= end; i += lanes) {
#pragma GCC ivdep
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const auto terms = row(i + lane);
        for (int k = 0; k < count; ++k) parts[k][lane] += terms.value[k];
      }
    }
    for (; i < end; ++i) {
      const auto terms = row(i);
      for (int k = 0; k < count; ++k) parts[k][i % lanes] += terms.value[k];
    }
    for (int k = 0; k < count; ++k) {
      double sum = 0;
      for (const auto part : parts[k]) sum += part;
      sums.value[k] += sum;
    }
  }
  static constexpr std::int64_t chunk_size = 4096;
};

template <int count, class Row>
struct OneByOne {
  Row row;
  KOKKOS_FUNCTION void operator()(std::int64_t i, SumsOf<count>& sums) const { sums += row(i); }
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

/// Local; waits for nothing. Calls row(i), which returns SumsOf<count>, for the rows from 0 on, and puts the
/// sums of what it returns into `sums`. row() may write what belongs to its row. The order of additions
/// depends on the number of rows alone.
template <int count, class Row>
void for_rows_with_sums(const std::string& label, const Space& instance, std::int64_t rows, const Row& row,
                        const SumsView<count>& sums) {
  using Sum = Kokkos::Sum<SumsOf<count>, typename Space::memory_space>;
  if constexpr (comm::on_host<Space>) {
    const detail::InLanes<count, Row> body{row, rows};
    const auto chunks = (rows + body.chunk_size - 1) / body.chunk_size;
    Kokkos::parallel_reduce(label, Policy(instance, 0, chunks), body, Sum(sums));
  } else {
    Kokkos::parallel_reduce(label, Policy(instance, 0, rows), detail::OneByOne<count, Row>{row}, Sum(sums));
  }
}

} // namespace kontor::cg
