// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/spmv.hpp"

#include <algorithm>
#include <limits>

namespace kontor::kernels {
namespace {

/// work(row, column) for the points of a box, and for each those of the 27 around it that are in the box.
template <class Work>
void each_entry(int n, const Work& work) {
  for (int row = 0; row < n * n * n; ++row)
    for (int offset = 0; offset < 27; ++offset) {
      const int i = row % n + offset % 3 - 1, j = row / n % n + offset / 3 % 3 - 1, k = row / n / n + offset / 9 - 1;
      if (std::min({i, j, k}) >= 0 && std::max({i, j, k}) < n) work(row, (k * n + j) * n + i);
    }
}

} // namespace

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
  const CompressedRows a{view_of(Kokkos::View<int*>("kernels/offsets", offsets.size()), offsets),
                         view_of(Kokkos::View<int*>("kernels/columns", columns.size()), columns),
                         view_of(Vector("kernels/values", values.size()), values)};
  const auto x = filled(Vector("kernels/x", rows), [](auto i, auto, auto) { return random_number(-1, i); });
  const Vector y("kernels/y", rows);
  const Way ways[] = {way("rows", [=] { multiply_rows(a, x, y); }), way("teams", [=] { multiply_in_teams(a, x, y); })};
  const auto entries = static_cast<double>(values.size()), read = 12 * entries + 12.0 * rows, written = 8.0 * rows;
  bench.time({"27 points",
              n,
              static_cast<double>(rows),
              {read, written},
              {{"flops", 2 * entries, "flop/s"},
               {"bandwidth", read + written, "B/s"},
               {"bandwidth_of_paper", 20 * entries + 12.0 * rows, "B/s"}}},
             ways,
             {[=] { Kokkos::deep_copy(y, HUGE_VAL); },
              [&] { return largest_error(y, [&](auto i, auto, auto) { return exact[i]; }); },
              27 * 27 * std::numeric_limits<double>::epsilon()});
}

} // namespace kontor::kernels
