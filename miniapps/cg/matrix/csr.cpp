// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/lanes.hpp"
#include "cg/matrix/product.hpp"

namespace kontor::cg {
namespace {

struct CsrKernel {
  /// Scratch memory of a team.
  struct Stage {
    double* values;
    LocalIndex* columns;
  };

  const std::int64_t* offsets;
  const LocalIndex* columns;
  const double* values;
  int staged; ///< entries at a time
  const double* x;
  double* y;

  using Place = RowPlace;
  KOKKOS_FUNCTION Place place_of(StorageIndex position) const { return {static_cast<LocalIndex>(position)}; }

  /// Entries that follow one another come into the scratch memory of the team, a thread each; then a row is summed by a
  /// thread. So memory is read in one piece, and rows in their order (J. L. Greathouse, M. Daga, "Efficient sparse
  /// matrix-vector multiplication on GPUs using the CSR storage format", SC14, 2014).
  template <class Member>
  KOKKOS_FUNCTION Stage stage_of(const Member& team) const {
    auto* const values_at =
        team.team_shmem().get_shmem_aligned(static_cast<std::ptrdiff_t>(staged * sizeof(double)), sizeof(double));
    auto* const columns_at = team.team_shmem().get_shmem_aligned(
        static_cast<std::ptrdiff_t>(staged * sizeof(LocalIndex)), sizeof(LocalIndex));
    return {static_cast<double*>(values_at), static_cast<LocalIndex*>(columns_at)};
  }
  template <class Member>
  KOKKOS_FUNCTION double sum(const Member& team, const Stage& stage, const RowRange& block, LocalIndex row) const {
    const auto end = offsets[block.end];
    const auto of_row = row < 0 ? end : offsets[row], end_of_row = row < 0 ? end : offsets[row + 1];
    double sum = 0;
    for (auto first = offsets[block.begin]; first < end; first += staged) {
      const int count = static_cast<int>(first + staged < end ? staged : end - first);
      team.team_barrier(); // what was there has been read
      load(stage, first, count, team.team_rank(), team.team_size());
      team.team_barrier();
      const int from = static_cast<int>(of_row > first ? of_row - first : 0);
      const int to = static_cast<int>(end_of_row < first + count ? end_of_row - first : count);
      for (int e = from; e < to; ++e) sum += stage.values[e] * x[stage.columns[e]];
    }
    return sum;
  }

  /// A thread's entries of those staged at a time. Several are on their way at once: what is written to the scratch
  /// memory might be what is read next, for all that a compiler knows.
  KOKKOS_FUNCTION void load(const Stage& stage, std::int64_t first, int count, int thread, int threads) const {
    constexpr int at_once = 8;
    for (int begin = thread; begin < count; begin += at_once * threads) {
      double value[at_once];
      LocalIndex column[at_once];
      for (int k = 0; k < at_once; ++k) {
        const int e = begin + k * threads;
        value[k] = e < count ? read_once(values + first + e) : 0;
        column[k] = e < count ? columns[first + e] : 0;
      }
      for (int k = 0; k < at_once; ++k) {
        const int e = begin + k * threads;
        if (e >= count) break;
        stage.values[e] = value[k];
        stage.columns[e] = column[k];
      }
    }
  }

  /// Two rows at a time, from the two halves of the block: an addition need not wait for the one before, and memory is
  /// read in twice as many streams.
  template <bool with_dot>
  double block(std::int64_t begin, std::int64_t end) const {
    const auto half = (end - begin) / 2;
    double dots[2] = {};
    for (auto row = begin; row < begin + half; ++row) {
      const std::int64_t rows[2] = {row, row + half};
      double sums[2];
      two(rows, sums);
      for (int r = 0; r < 2; ++r) {
        y[rows[r]] = sums[r];
        if constexpr (with_dot) dots[r] += x[rows[r]] * sums[r];
      }
    }
    if (begin + 2 * half < end) {
      const auto row = end - 1;
      y[row] = rest(0, offsets[row], offsets[row + 1]);
      if constexpr (with_dot) dots[0] += x[row] * y[row];
    }
    return dots[0] + dots[1];
  }

  void two(const std::int64_t (&rows)[2], double (&sums)[2]) const {
    constexpr int line = 8, ahead = 3072 / 2 / static_cast<int>(sizeof(double));
    const auto a = offsets[rows[0]], b = offsets[rows[1]];
    const auto of_a = offsets[rows[0] + 1] - a, of_b = offsets[rows[1] + 1] - b;
    const auto common = of_a < of_b ? of_a : of_b;
    double sum_a = 0, sum_b = 0;
    std::int64_t e = 0;
    const auto add = [&](std::int64_t at) {
      sum_a += values[a + at] * x[columns[a + at]];
      sum_b += values[b + at] * x[columns[b + at]];
    };
    const auto prefetch_values = [&] {
      prefetch(values + a + e + ahead);
      prefetch(values + b + e + ahead);
    };
    for (; e + line <= common; e += line) {
      prefetch_values();
      if (e % (2 * line) == 0) { // a cache line has twice as many columns
        prefetch(columns + a + e + ahead);
        prefetch(columns + b + e + ahead);
      }
#pragma GCC unroll 8
      for (int k = 0; k < line; ++k) add(e + k);
    }
    prefetch_values(); // the line that the row's last entries are in
    for (; e < common; ++e) add(e);
    sums[0] = rest(sum_a, a + common, a + of_a);
    sums[1] = rest(sum_b, b + common, b + of_b);
  }

  double rest(double sum, std::int64_t begin, std::int64_t end) const {
    for (auto e = begin; e < end; ++e) sum += values[e] * x[columns[e]];
    return sum;
  }
};

/// The most entries of so many rows that follow one another.
struct MostEntries {
  Offsets offsets;
  std::int64_t rows, block;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& most) const {
    const auto end = row + block < rows ? row + block : rows;
    const auto entries = offsets(end) - offsets(row);
    if (entries > most) most = entries;
  }
};

/// Rows that a team takes at a time: as many as fill what it stages, by their average, but no more than it has threads;
/// and the entries that it stages, no more than such rows have.
struct Staging {
  int rows = 1, entries = 1;

  Staging(const CompressedRows& matrix, const ProductTuning& tuning) {
    constexpr int warp = 32;
    const std::int64_t all = matrix.rows();
    if (!tuning.teams || all == 0) return;
    const auto average = std::max<std::int64_t>(quotient_up(matrix.entries(), all), 1);
    rows = static_cast<int>(std::clamp<std::int64_t>(tuning.staged / average / warp * warp,
                                                     std::min(warp, detail::team_threads), detail::team_threads));
    std::int64_t most = 1;
    Kokkos::parallel_reduce("cg/most entries", Policy(0, all), MostEntries{matrix.offsets, all, rows},
                            Kokkos::Max<std::int64_t>(most));
    entries = static_cast<int>(std::clamp<std::int64_t>(most, 1, tuning.staged));
  }
};

struct Csr {
  using Kernel = CsrKernel;
  static constexpr const char* label = "cg/csr";
  CompressedRows rows;
  LocalIndex interior;
  Staging staging;

  Kernel kernel(const double* x, double* y) const {
    return {rows.offsets.data(), rows.columns.data(), rows.values.data(), staging.entries, x, y};
  }
  RowRange positions(Part part) const { return range_of(part, rows.rows(), interior); }
  TeamOfProduct team() const {
    const std::size_t aligned = 2 * sizeof(double);
    return {staging.rows, staging.entries * (sizeof(double) + sizeof(LocalIndex)) + aligned};
  }
  double bytes() const { return bytes_of_product(rows); }
};

} // namespace

std::unique_ptr<Matrix> make_csr(const CompressedRows& rows, LocalIndex interior, const ProductTuning& tuning) {
  return std::make_unique<Product<Csr>>(Csr{rows, interior, Staging(rows, tuning)}, tuning);
}

} // namespace kontor::cg
