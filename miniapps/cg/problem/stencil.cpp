// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/box_problem.hpp"
#include "cg/problem/known_solution.hpp"
#include "cg/scale.hpp"
#include "machine/first_touch.hpp"
#include "machine/huge_pages.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

namespace kontor::cg {
namespace {

using PointValues = grid::BlockView<double>;

/// Entries of the rows of a stencil: the point itself weighs as much as it has neighbours inside an endless box, each
/// neighbour -1.
struct Stencil {
  PointRows rows;
  bool corners; ///< 27 points, or 7

  KOKKOS_FUNCTION double weight(int di, int dj, int dk) const {
    if (di == 0 && dj == 0 && dk == 0) return corners ? 26 : 6;
    return corners || di * di + dj * dj + dk * dk == 1 ? -1 : 0;
  }
  /// Calls entry(row, value, di, dj, dk) for the entries of the row of a point, in the order of rows of the whole
  /// matrix.
  template <class Entry>
  KOKKOS_FUNCTION void for_each_entry(int i, int j, int k, const Entry& entry) const {
    // The points of a box: where two opposite corners are, all are.
    if (corners && rows(k, j, i) >= 0 && rows(k + 2, j + 2, i + 2) >= 0)
      for_each<true>(i, j, k, entry);
    else
      for_each<false>(i, j, k, entry);
  }
  template <bool all, class Entry>
  KOKKOS_FUNCTION void for_each(int i, int j, int k, const Entry& entry) const {
    for (int dk = -1; dk <= 1; ++dk)
      for (int dj = -1; dj <= 1; ++dj)
#pragma GCC unroll 3
        for (int di = -1; di <= 1; ++di) {
          const double value = all ? di == 0 && dj == 0 && dk == 0 ? 26 : -1 : weight(di, dj, dk);
          const auto row = rows(k + 1 + dk, j + 1 + dj, i + 1 + di);
          if (all || (value != 0 && row >= 0)) entry(row, value, di, dj, dk);
        }
  }
};

struct CountStencilEntries {
  Stencil stencil;
  Offsets counts; ///< of row r at r + 1
  KOKKOS_FUNCTION void operator()(int k, int j, int i) const {
    std::int64_t count = 0;
    stencil.for_each_entry(i, j, k, [&](auto...) { ++count; });
    counts(stencil.rows(k + 1, j + 1, i + 1) + 1) = count;
  }
};

struct FillStencilColumns {
  Stencil stencil;
  CompressedRows matrix;
  KOKKOS_FUNCTION void operator()(int k, int j, int i) const {
    auto at = matrix.offsets(stencil.rows(k + 1, j + 1, i + 1));
    stencil.for_each_entry(i, j, k, [&](LocalIndex row, auto...) { matrix.columns(at++) = row; });
  }
};

struct FillStencilValues {
  Stencil stencil;
  RowValues matrix;
  KOKKOS_FUNCTION void operator()(int k, int j, int i) const {
    auto values = matrix.row(stencil.rows(k + 1, j + 1, i + 1));
    stencil.for_each_entry(i, j, k, [&](LocalIndex, double value, auto...) { values.next() = value; });
  }
};

/// The right-hand side of a known solution, which lies in a block with one layer more around it.
struct RightHandSide {
  Stencil stencil;
  PointValues exact;
  Vector rhs;
  KOKKOS_FUNCTION void operator()(int k, int j, int i) const {
    double sum = 0;
    stencil.for_each_entry(i, j, k, [&](LocalIndex, double value, int di, int dj, int dk) {
      sum += value * exact(k + 1 + dk, j + 1 + dj, i + 1 + di);
    });
    rhs(stencil.rows(k + 1, j + 1, i + 1)) = sum;
  }
};

class StencilProblem final : public BoxProblem {
 public:
  StencilProblem(const Options& options, const miniapp::RunContext& context)
      : BoxProblem(options, context), options_(options.stencil), corners_(options.stencil.size == 27),
        exact_(options.stencil.exact) {
    make_rows(options, corners_);
  }

  LinearSystem build(const TakeFile& /*take*/) override {
    const auto& n = box_.block.extents;
    const Stencil stencil{point_rows(box_), corners_};
    LinearSystem system{.partition = box_.partition};
    auto& matrix = system.matrix;
    const auto own = static_cast<std::size_t>(box_.partition.own);
    timed("structure", [&] {
      matrix.offsets = miniapp::zeroed<std::int64_t>("cg/offsets", own + 1);
      for_points("cg/count entries", n, CountStencilEntries{stencil, matrix.offsets});
      const auto entries = sum_counts(matrix.offsets);
      if (needs_matrix(solver_)) {
        matrix.columns = Rows(Kokkos::view_alloc("cg/columns", Kokkos::WithoutInitializing), entries);
        miniapp::use_huge_pages(matrix.columns);
        for_points("cg/fill columns", n, FillStencilColumns{stencil, matrix});
      } else {
        matrix = {};
        system.unassembled = entries;
      }
    });
    timed("assembly", [&] {
      if (needs_matrix(solver_)) for_points("cg/fill values", n, FillStencilValues{stencil, system.make_room(solver_)});
    });

    grid::FiniteCheck finite;
    timed("boundary", [&] {
      const PointValues exact("cg/exact", n[2] + 2, n[1] + 2, n[0] + 2); // with what other ranks have beside it
      grid::fill<double>(exact, with_layer(), exact_, 0, finite);
      system.rhs = Vector("cg/b", own);
      for_points("cg/right-hand side", n, RightHandSide{stencil, exact, system.rhs});
      system.error_bound = bound(values_at_points(box_, exact_, "cg/solution", finite));
      if (!initial_.zero()) system.initial = values_at_points(box_, initial_, "cg/initial", finite);
      finite.agree(cartesian_);
    });
    system.exact = [this](const Vector& to) {
      grid::FiniteCheck found; // the right-hand side is made of the same
      set_at_points(box_, exact_, to, found);
    };
    return system;
  }

  std::unique_ptr<Matrix> matrix_free(const ProductTuning& tuning) const override {
    const Stencil stencil{{}, corners_};
    std::vector<StencilEntry> entries;
    for (int dk = -1; dk <= 1; ++dk)
      for (int dj = -1; dj <= 1; ++dj)
        for (int di = -1; di <= 1; ++di)
          if (const double weight = stencil.weight(di, dj, dk); weight != 0) entries.push_back({di, dj, dk, weight});
    return make_matrix_free(point_rows(box_), box_.partition, entries, tuning);
  }

 private:
  /// Collective. The right-hand side is a sum of so many products, rounded one by one.
  ErrorBound bound(const Vector& exact) const {
    const auto terms = options_.size;
    ErrorBound bound{.least_eigenvalue = least_eigenvalue(options_)};
    constexpr double unit_roundoff = 0x1p-53;
    bound.discretisation = terms * unit_roundoff * 2 * (terms - 1) / bound.least_eigenvalue *
                           norm(cartesian_, Space(), exact) / std::sqrt(static_cast<double>(box_.partition.rows));
    return bound;
  }

  /// The block and the layer around it as a block of its own.
  grid::Block with_layer() const {
    auto block = box_.block;
    for (int axis = 0; axis < 3; ++axis) {
      --block.offset[axis];
      block.extents[axis] += 2;
    }
    return block;
  }

  StencilOptions options_;
  bool corners_;
  grid::DeckFunction exact_;
};

} // namespace

std::unique_ptr<Problem> make_stencil(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<StencilProblem>(options, context);
}

} // namespace kontor::cg
