// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/matrix_free.hpp"

#include "cg/matrix/lanes.hpp"
#include "cg/matrix/product.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace kontor::cg {
namespace {

constexpr int most_entries = 27;
constexpr int run_rows = 32;
constexpr std::int32_t nothing = std::numeric_limits<std::int32_t>::min();

/// Rows that follow one another along x, and have their columns equally far away.
struct Run {
  LocalIndex first = 0;
  LocalIndex rows = 0; ///< at most run_rows
};

struct FreeKernel {
  const Run* runs;
  const std::int32_t* offsets; ///< of each entry, run by run; or nothing
  int entries;
  double weights[most_entries];
  const double* x;
  double* y;

  KOKKOS_FUNCTION LocalIndex row_of(Position position) const {
    const auto& run = runs[position / run_rows];
    const auto place = static_cast<LocalIndex>(position % run_rows);
    return place < run.rows ? run.first + place : -1;
  }

  template <int at_once = few_at_once>
  KOKKOS_FUNCTION double sum(Position position, LocalIndex row) const {
    const std::int32_t* const to = offsets + std::int64_t{position / run_rows} * entries;
    return sum_in_order<at_once>(
        entries, [this](int e) { return weights[e]; },
        [x_row = x + row, to](int e) { return to[e] != nothing ? x_row[to[e]] : 0; });
  }
  KOKKOS_FUNCTION double sum_of(std::int64_t row, const std::int32_t* to) const {
    double sum = 0;
    for (int e = 0; e < entries; ++e)
      if (to[e] != nothing) sum += weights[e] * x[row + to[e]];
    return sum;
  }

  template <bool with_dot>
  double block(std::int64_t begin, std::int64_t end) const {
    double dots[run_rows] = {};
    for (auto r = begin / run_rows; r < end / run_rows; ++r) {
      const auto run = runs[r];
      const std::int32_t* const to = offsets + r * entries;
      double sums[run_rows];
      LocalIndex i = 0;
      for (; i + 2 * width <= run.rows; i += 2 * width) several<2>(run.first + i, to, sums + i);
      for (; i + width <= run.rows; i += width) several<1>(run.first + i, to, sums + i);
      for (; i < run.rows; ++i) sums[i] = sum_of(run.first + i, to);
      for (i = 0; i < run.rows; ++i) {
        y[run.first + i] = sums[i];
        if constexpr (with_dot) dots[i] += x[run.first + i] * sums[i];
      }
    }
    double dot = 0;
    for (const double part : dots) dot += part;
    return dot;
  }

  template <int vectors>
  void several(std::int64_t row, const std::int32_t* to, double* sums) const {
    Lanes sum[vectors] = {};
    for (int e = 0; e < entries; ++e) {
      if (to[e] == nothing) continue;
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) add_products(sum[v], weights[e], x + row + to[e] + v * width);
    }
    for (int v = 0; v < vectors; ++v) store(sums + v * width, sum[v]);
  }
};

struct MatrixFree {
  using Kernel = FreeKernel;
  static constexpr const char* label = "cg/matrix-free";
  Kokkos::View<Run*> runs; ///< of interior rows, then of the others
  Kokkos::View<std::int32_t*> offsets;
  std::int64_t interior_runs;
  LocalIndex rows;
  std::vector<StencilEntry> entries;

  Kernel kernel(const double* x, double* y) const {
    Kernel kernel{runs.data(), offsets.data(), static_cast<int>(entries.size()), {}, x, y};
    for (std::size_t e = 0; e < entries.size(); ++e) kernel.weights[e] = entries[e].weight;
    return kernel;
  }
  Positions positions(Part part) const {
    const auto all = static_cast<std::int64_t>(runs.extent(0));
    return {part == Part::boundary ? interior_runs * run_rows : 0,
            (part == Part::interior ? interior_runs : all) * run_rows};
  }
  TeamOfProduct team(const ProductTuning& tuning) const {
    const int threads = tuning.threads(256);
    return {threads, threads, 0};
  }
  double bytes() const {
    return static_cast<double>(runs.extent(0) * sizeof(Run) + offsets.extent(0) * sizeof(std::int32_t)) +
           2.0 * static_cast<double>(rows) * sizeof(double);
  }
};

/// The runs of one part, and the offsets of their entries.
struct Runs {
  std::vector<Run> runs;
  std::vector<std::int32_t> offsets;

  void add(LocalIndex row, const std::vector<std::int32_t>& to) {
    const auto n = static_cast<std::ptrdiff_t>(to.size());
    if (!runs.empty() && runs.back().first + runs.back().rows == row && runs.back().rows < run_rows &&
        std::equal(to.begin(), to.end(), offsets.end() - n)) {
      ++runs.back().rows;
      return;
    }
    runs.push_back({row, 1});
    offsets.insert(offsets.end(), to.begin(), to.end());
  }
};

} // namespace

std::unique_ptr<Matrix> make_matrix_free(const BoxRows& box, const std::vector<StencilEntry>& entries,
                                         const ProductTuning& tuning) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), box.rows);
  Runs interior, boundary;
  std::vector<std::int32_t> to(entries.size());
  const auto& n = box.block.extents;
  for (std::int64_t k = 1; k <= n[2]; ++k)
    for (std::int64_t j = 1; j <= n[1]; ++j)
      for (std::int64_t i = 1; i <= n[0]; ++i) {
        const auto row = numbers(k, j, i);
        for (std::size_t e = 0; e < entries.size(); ++e) {
          const auto column = numbers(k + entries[e].dk, j + entries[e].dj, i + entries[e].di);
          to[e] = column < 0 ? nothing : column - row;
        }
        (row < box.partition.interior ? interior : boundary).add(row, to);
      }
  const auto interior_runs = interior.runs.size();
  interior.runs.insert(interior.runs.end(), boundary.runs.begin(), boundary.runs.end());
  interior.offsets.insert(interior.offsets.end(), boundary.offsets.begin(), boundary.offsets.end());

  MatrixFree format{Kokkos::View<Run*>("cg/runs", interior.runs.size()),
                    Kokkos::View<std::int32_t*>("cg/offsets of runs", interior.offsets.size()),
                    static_cast<std::int64_t>(interior_runs), box.partition.own, entries};
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(format.runs, Kokkos::View<const Run*, Kokkos::HostSpace, Unmanaged>(
                                     interior.runs.data(), interior.runs.size()));
  Kokkos::deep_copy(format.offsets, Kokkos::View<const std::int32_t*, Kokkos::HostSpace, Unmanaged>(
                                        interior.offsets.data(), interior.offsets.size()));
  return std::make_unique<Product<MatrixFree>>(std::move(format), tuning);
}

} // namespace kontor::cg
