// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/matrix_free.hpp"

#include "cg/matrix/product.hpp"

#include <limits>
#include <map>
#include <numeric>
#include <string>

namespace kontor::cg {
namespace {

constexpr std::int32_t nothing = std::numeric_limits<std::int32_t>::min();

struct FreeKernel : FreeSum {
  const double* x;
  double* y;

  template <bool with_dot>
  double block(std::int64_t begin, std::int64_t end) const {
    double dots[run_rows] = {};
    for (auto r = begin / run_rows; r < end / run_rows; ++r) {
      const auto run = runs[r];
      const double* const xs = x + run.first;
      double sums[run_rows];
      int i = run.full != 0 ? in_vectors<true>(run, xs, sums) : in_vectors<false>(run, xs, sums);
      for (; i < run.rows; ++i)
        sums[i] = sum_in_order<1>(
            entries, [this](int e) { return weights[e]; }, values_of_x(pattern(run), i, xs + i));
      for (i = 0; i < run.rows; ++i) {
        y[run.first + i] = sums[i];
        if constexpr (with_dot) dots[i] += xs[i] * sums[i];
      }
    }
    double dot = 0;
    for (const double part : dots) dot += part;
    return dot;
  }

 private:
  KOKKOS_FUNCTION const SharedOffset* pattern(const Run& run) const {
    return patterns + std::int64_t{run.pattern} * entries;
  }
  /// Returns how many rows it has summed: all but the last few.
  template <bool full>
  int in_vectors(const Run& run, const double* xs, double* sums) const {
    const SharedOffset* const to = pattern(run);
    constexpr int many = 16 / width;
    int i = 0;
    for (; i + many * width <= run.rows; i += many * width) several<many, full>(to, i, xs + i, sums + i);
    for (; i + width <= run.rows; i += width) several<1, full>(to, i, xs + i, sums + i);
    return i;
  }
  template <int vectors, bool full>
  void several(const SharedOffset* to, int lane, const double* xs, double* sums) const {
    Lanes sum[vectors] = {};
    constexpr std::uint32_t all = ~std::uint32_t{0} >> (run_rows - vectors * width);
    for (int e = 0; e < entries; ++e) {
      const auto lanes = full ? all : to[e].lanes >> lane & all;
      const double* const xs_e = xs + to[e].offset;
      if (lanes == all) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) add_products(sum[v], weights[e], xs_e + v * width);
      } else if (lanes != 0) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) add_products(sum[v], weights[e], xs_e + v * width, lanes >> (v * width));
      }
    }
    for (int v = 0; v < vectors; ++v) store(sums + v * width, sum[v]);
  }
};

struct MatrixFree {
  using Kernel = FreeKernel;
  static constexpr const char* label = "cg/matrix-free";
  Kokkos::View<Run*> runs; ///< of interior rows, then of the others
  Kokkos::View<SharedOffset*> patterns;
  std::int64_t interior_runs;
  LocalIndex rows;
  std::vector<StencilEntry> entries;

  Kernel kernel(const double* x, double* y) const {
    Kernel kernel{{runs.data(), patterns.data(), static_cast<int>(entries.size()), {}}, x, y};
    for (std::size_t e = 0; e < entries.size(); ++e) kernel.weights[e] = entries[e].weight;
    return kernel;
  }
  RowRange positions(Part part) const {
    const auto all = static_cast<std::int64_t>(runs.extent(0));
    return range_of(part, all * run_rows, interior_runs * run_rows);
  }
  double bytes() const {
    return static_cast<double>(runs.extent(0) * sizeof(Run) + patterns.extent(0) * sizeof(SharedOffset)) +
           2.0 * static_cast<double>(rows) * sizeof(double);
  }
};

/// Puts rows into runs, and tells the patterns of runs apart.
class RunMaker {
 public:
  /// `columns`: own rows and ghosts.
  RunMaker(LocalIndex columns, std::size_t entries) : columns_(columns), pattern_(entries) {}

  /// Adds a row, whose columns are so far away, or nothing.
  void add(LocalIndex row, const std::vector<std::int32_t>& to) {
    if (!joins(row, to)) {
      end();
      run_ = {.first = row};
      std::fill(pattern_.begin(), pattern_.end(), SharedOffset{});
    }
    for (std::size_t e = 0; e < to.size(); ++e)
      if (to[e] != nothing) pattern_[e] = {to[e], pattern_[e].lanes | std::uint32_t{1} << run_.rows};
    ++run_.rows;
  }
  /// Ends the run: the next row begins another.
  void end() {
    if (run_.rows == 0) return;
    const auto next = static_cast<LocalIndex>(numbers_.size());
    const auto [number, is_new] = numbers_.emplace(pattern_, next);
    if (is_new) patterns_.insert(patterns_.end(), pattern_.begin(), pattern_.end());
    const bool full = std::all_of(pattern_.begin(), pattern_.end(),
                                  [all = all_lanes()](const SharedOffset& e) { return e.lanes == all; });
    runs_.push_back({run_.first, run_.rows, number->second, full ? 1 : 0});
    run_.rows = 0;
  }
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<SharedOffset>& patterns() const { return patterns_; }

 private:
  /// Runs end where cache lines do.
  bool joins(LocalIndex row, const std::vector<std::int32_t>& to) const {
    if (run_.rows == 0 || row != run_.first + run_.rows || row % run_rows == 0) return false;
    for (std::size_t e = 0; e < to.size(); ++e) {
      const auto& entry = pattern_[e];
      const bool has = to[e] != nothing;
      if (has && entry.lanes != 0 && entry.offset != to[e]) return false;
      // A processor reads for lanes without this entry, too.
      const auto first = run_.first + (has ? to[e] : entry.offset);
      if (entry.lanes != (has ? all_lanes() : 0) && (first < 0 || first > columns_ - run_rows)) return false;
    }
    return true;
  }
  /// A bit for each row of the run.
  std::uint32_t all_lanes() const { return ~std::uint32_t{0} >> (run_rows - run_.rows); }

  LocalIndex columns_;
  std::vector<SharedOffset> pattern_; ///< of the last run
  Run run_;                           ///< the last one, or no rows
  std::vector<Run> runs_;
  std::vector<SharedOffset> patterns_;
  std::map<std::vector<SharedOffset>, LocalIndex> numbers_;
};

template <class T>
Kokkos::View<T*> in_space(const char* label, const std::vector<T>& from) {
  Kokkos::View<T*> to(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), from.size());
  Kokkos::deep_copy(
      to, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from.data(), from.size()));
  return to;
}

} // namespace

std::unique_ptr<Matrix> make_matrix_free(const PointRows& points, const Partition& partition,
                                         const std::vector<StencilEntry>& entries, const ProductTuning& tuning) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), points);
  RunMaker maker(partition.own + partition.ghosts, entries.size());
  std::vector<std::int32_t> to(entries.size());
  const auto add_rows = [&](bool interior) {
    for (std::int64_t k = 1; k + 1 < numbers.extent_int(0); ++k)
      for (std::int64_t j = 1; j + 1 < numbers.extent_int(1); ++j)
        for (std::int64_t i = 1; i + 1 < numbers.extent_int(2); ++i) {
          const auto row = numbers(k, j, i);
          if ((row < partition.interior) != interior) continue;
          for (std::size_t e = 0; e < entries.size(); ++e) {
            const auto column = numbers(k + entries[e].dk, j + entries[e].dj, i + entries[e].di);
            to[e] = column < 0 ? nothing : column - row;
          }
          maker.add(row, to);
        }
    maker.end();
    return static_cast<std::int64_t>(maker.runs().size());
  };
  const auto interior_runs = add_rows(true);
  if (partition.interior < partition.own) add_rows(false);
  return std::make_unique<Product<MatrixFree>>(MatrixFree{in_space("cg/runs", maker.runs()),
                                                          in_space("cg/patterns of runs", maker.patterns()),
                                                          interior_runs, partition.own, entries},
                                               tuning);
}

} // namespace kontor::cg
