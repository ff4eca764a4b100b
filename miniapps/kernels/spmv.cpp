// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"

namespace kontor::kernels {

/// y = A x with compressed rows: a row by a thread, and by the vector lanes of a team's threads.
void measure_spmv(Bench& bench, std::int64_t edge) {
  const int n = static_cast<int>(edge), rows = n * n * n;
  std::vector<int> offsets{0}, columns;
  std::vector<double> values, exact(static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    const int i = row % n, j = row / n % n, k = row / n / n;
    for (int offset = 0; offset < 27; ++offset) {
      const int to = point_at(i + offset % 3 - 1, j + offset / 3 % 3 - 1, k + offset / 9 - 1, n);
      if (to < 0) continue;
      columns.push_back(to);
      values.push_back(random_number(row, to));
      exact[row] += values.back() * random_number(-1, to);
    }
    offsets.push_back(static_cast<int>(columns.size()));
  }
  const auto begin = filled(Kokkos::View<int*>("kernels/offsets", offsets.size()), values_of(offsets));
  const auto column = filled(Kokkos::View<int*>("kernels/columns", columns.size()), values_of(columns));
  const auto a = filled(Vector("kernels/values", values.size()), values_of(values));
  const auto x = filled(Vector("kernels/x", rows), [](auto i, auto, auto) { return random_number(-1, i); });
  const Vector y("kernels/y", rows);
  const auto by_rows = kernel(
      "kernels/spmv rows", Range(0, rows), KOKKOS_LAMBDA(const std::int64_t row) {
        double sum = 0;
        for (int e = begin(row); e < begin(row + 1); ++e) sum += a(e) * x(column(e));
        y(row) = sum;
      });
  using Policy = Kokkos::TeamPolicy<Space>;
  constexpr int team_rows = device::kernels_on_host ? 512 : 16, threads = device::kernels_on_host ? 1 : 16, lanes = 8;
  const auto in_teams = kernel(
      "kernels/spmv teams", Policy((rows + team_rows - 1) / team_rows, threads, lanes),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const int first = team.league_rank() * team_rows, end = first + team_rows < rows ? first + team_rows : rows;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, end), [&](const int row) {
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, begin(row), begin(row + 1)),
              [&](const int e, double& part) { part += a(e) * x(column(e)); }, sum);
          Kokkos::single(Kokkos::PerThread(team), [&] { y(row) = sum; });
        });
      });
  const Way ways[] = {way("rows", by_rows), way("teams", in_teams)};
  const auto entries = static_cast<double>(values.size()), read = 12 * entries + 12.0 * rows, written = 8.0 * rows;
  const Figures counts{{"flops", 2 * entries, "flop/s"},
                       {"bandwidth", read + written, "B/s"},
                       {"bandwidth_of_paper", 20 * entries + 12.0 * rows, "B/s"}};
  bench.time({"27 points", n, static_cast<double>(rows), {read, written}, counts}, ways,
             becomes(y, HUGE_VAL, values_of(exact), 27 * 27 * epsilon<>));
}

} // namespace kontor::kernels
