// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/bench.hpp"

/// y = A x with compressed rows.
namespace kontor::kernels {

using Vector = Kokkos::View<double*>;

struct CompressedRows {
  Kokkos::View<int*> offsets; ///< where rows begin, and the end
  Kokkos::View<int*> columns;
  Vector values;
};

/// A row is a thread's.
inline void multiply_rows(const CompressedRows& a, const Vector& x, const Vector& y) {
  Kokkos::parallel_for(
      "kernels/spmv rows", Range(0, y.extent(0)), KOKKOS_LAMBDA(const std::int64_t row) {
        double sum = 0;
        for (int e = a.offsets(row); e < a.offsets(row + 1); ++e) sum += a.values(e) * x(a.columns(e));
        y(row) = sum;
      });
}

/// Three levels: rows of a team, a row of a thread, entries of its vector lanes.
inline void multiply_in_teams(const CompressedRows& a, const Vector& x, const Vector& y) {
  using Policy = Kokkos::TeamPolicy<Space>;
  constexpr int team_rows = device::kernels_on_host ? 512 : 16, threads = device::kernels_on_host ? 1 : 16, lanes = 8;
  const int rows = static_cast<int>(y.extent(0));
  Kokkos::parallel_for(
      "kernels/spmv teams", Policy((rows + team_rows - 1) / team_rows, threads, lanes),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const int first = team.league_rank() * team_rows, end = first + team_rows < rows ? first + team_rows : rows;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, end), [&](const int row) {
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, a.offsets(row), a.offsets(row + 1)),
              [&](const int e, double& part) { part += a.values(e) * x(a.columns(e)); }, sum);
          Kokkos::single(Kokkos::PerThread(team), [&] { y(row) = sum; });
        });
      });
}

} // namespace kontor::kernels
