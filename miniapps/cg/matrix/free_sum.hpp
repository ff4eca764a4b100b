// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/lanes.hpp"
#include "cg/matrix/row_sum.hpp"

namespace kontor::cg {

inline constexpr int run_rows = 32;

/// Rows that follow one another, and have the same neighbours as far away, as far as they have them: lines of points
/// run on in the next line.
struct Run {
  LocalIndex first = 0;
  LocalIndex rows = 0; ///< at most run_rows
  LocalIndex pattern = 0;
  std::int32_t full = 0; ///< 1: every row has every entry
};

/// The sums of rows of format matrix_free, for kernels.
struct FreeSum {
  static constexpr int most_entries = 27;
  const Run* runs;
  const SharedOffset* patterns; ///< of each entry, pattern by pattern
  int entries;
  double weights[most_entries];

  struct Place {
    LocalIndex row;
    LocalIndex pattern = 0;
  };
  KOKKOS_FUNCTION Place place_of(StorageIndex position) const {
    const auto& run = runs[position / run_rows];
    const auto place = static_cast<LocalIndex>(position % run_rows);
    return {place < run.rows ? run.first + place : -1, run.pattern};
  }

  template <int at_once = few_at_once>
  KOKKOS_FUNCTION double sum(const double* from, StorageIndex position, Place place) const {
    return sum_in_order<at_once>(
        entries, [this](int e) { return weights[e]; },
        values_of_x(patterns + std::int64_t{place.pattern} * entries, static_cast<int>(position % run_rows),
                    from + place.row));
  }
};

} // namespace kontor::cg
