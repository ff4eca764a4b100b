// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"

#include <algorithm>

namespace kontor::kernels {

/// work(row, column) for the points of a box, and for each those of the 27 around it that are in the box.
template <class Work>
void each_entry(int n, const Work& work) {
  for (int row = 0; row < n * n * n; ++row)
    for (int offset = 0; offset < 27; ++offset) {
      const int i = row % n + offset % 3 - 1, j = row / n % n + offset / 3 % 3 - 1, k = row / n / n + offset / 9 - 1;
      if (std::min({i, j, k}) >= 0 && std::max({i, j, k}) < n) work(row, (k * n + j) * n + i);
    }
}

/// y = A x with compressed rows: a row by a thread, and by the vector lanes of a team's threads.
void measure_spmv(Bench& bench, std::int64_t edge) {
  const int n = static_cast<int>(edge), rows = n * n * n;
  std::vector<int> offsets(static_cast<std::size_t>(rows) + 1), columns;
  std::vector<double> values, exact(static_cast<std::size_t>(rows));
  each_entry(n, [&](int row, int column) {
    columns.push_back(column);
    values.push_back(random_number(row, column));
    offsets[row + 1] = static_cast<int>(columns.size());
    exact[row] += values.back() * random_number(-1, column);
  });
  const auto view_of = [](auto view, const auto& of) {
    return filled(view, [&](auto i, auto, auto) { return of[i]; });
  };
  const auto begin = view_of(Kokkos::View<int*>("kernels/offsets", offsets.size()), offsets);
  const auto column = view_of(Kokkos::View<int*>("kernels/columns", columns.size()), columns);
  const auto a = view_of(Vector("kernels/values", values.size()), values);
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
             becomes(
                 y, HUGE_VAL, [&](auto i, auto, auto) { return exact[i]; }, 27 * 27 * epsilon<>));
}

} // namespace kontor::kernels
