// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/pass_shape.hpp"
#include "heat/kernels/row.hpp"
#include "heat/names.hpp"
#include "heat/problem/stencil.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

/// Sweeps over a box of cells on a CPU. Kernels are free functions of Views and numbers; they run on the instance and,
/// without a norm, do not wait for it.
namespace kontor::heat {

namespace detail {

/// The cells of a row: their weights, and what updates them.
template <int dimensions, bool sourced, class T>
class BlockRows {
 public:
  BlockRows(const SweepInput<T>& in, const FieldView<T>& out)
      : u_(grid::own_cell(in.u, dimensions)), source_(in.source.data()), out_(grid::own_cell(out, dimensions)),
        row_(static_cast<std::int64_t>(in.u.stride(1))), plane_(static_cast<std::int64_t>(in.u.stride(0))),
        source_row_(static_cast<std::int64_t>(in.source.stride(1))),
        source_plane_(static_cast<std::int64_t>(in.source.stride(0))), stencil_(in.stencil),
        inner_(in.stencil, {in.block.extents[0], 3, 3}, 1, 1) {
    for (int axis = 0; axis < 3; ++axis) {
      cells_[axis] = in.block.extents[axis];
      for (int face = 2 * axis; face < 2 * axis + 2; ++face) ends_[face] = in.block.at_boundary(face);
    }
  }

 protected:
  struct Weights {
    Weights(const Stencil<T>& s, const std::int64_t (&cells)[3], std::int64_t j, std::int64_t k) {
      const T y = s.extra(1, j, cells[1]), z = dimensions == 3 ? s.extra(2, k, cells[2]) : T(0);
      lower = s.weights(s.extra(0, 0, cells[0]), y, z);
      inner = s.weights(0, y, z);
      upper = s.weights(s.extra(0, cells[0] - 1, cells[0]), y, z);
    }
    typename Stencil<T>::Weights lower, inner, upper;
  };

  /// Cells [begin, end) of row j of plane k. Returns the norm's part.
  template <Norm norm, bool streaming>
  double update(const Row<T>& row, std::int64_t j, std::int64_t k, std::int64_t begin, std::int64_t end,
                std::uintptr_t prefetch) const {
    const bool face = j == 0 || j == cells_[1] - 1 || (dimensions == 3 && (k == 0 || k == cells_[2] - 1));
    if (face) return update<norm, streaming>(row, Weights(stencil_, cells_, j, k), begin, end, prefetch);
    return update<norm, streaming>(row, inner_, begin, end, prefetch);
  }

  /// The same with these weights.
  template <Norm norm, bool streaming>
  double update(const Row<T>& row, const Weights& weights, std::int64_t begin, std::int64_t end,
                std::uintptr_t prefetch) const {
    const bool lower = ends_[0] && begin == 0, upper = ends_[1] && end >= cells_[0];
    if constexpr (streaming || norm != Norm::none) {
      double result = 0;
      if (lower) result = at_end<norm>(row, weights.lower, begin++);
      if (upper && begin < end) result = joined<norm>(result, at_end<norm>(row, weights.upper, --end));
      return joined<norm>(
          result, update_row<dimensions, sourced, norm, streaming>(row, stencil_, weights.inner, begin, end, prefetch));
    }
    // Whole vectors from the beginning of a line; then the cells at the ends again, whose weights differ.
    update_row<dimensions, sourced, Norm::none, false>(row, stencil_, weights.inner, begin, end, prefetch);
    if (lower) at_end<Norm::none>(row, weights.lower, 0);
    if (upper) at_end<Norm::none>(row, weights.upper, cells_[0] - 1);
    return 0;
  }

  template <Norm norm>
  double at_end(const Row<T>& row, typename Stencil<T>::Weights w, std::int64_t i) const {
    const T value = updated<dimensions, sourced>(row, stencil_, w, i), change = value - row.centre[i];
    row.out[i] = value;
    if constexpr (norm == Norm::none) return 0;
    return norm == Norm::max ? std::abs(change) : static_cast<double>(change) * static_cast<double>(change);
  }

  /// How far ahead is asked for in 3-D: rows of this plane's band, or of the next plane's.
  std::uintptr_t ahead(std::uintptr_t bytes, std::int64_t row_cells, std::int64_t left, std::int64_t band) const {
    if (dimensions == 2 || bytes == 0) return bytes;
    const auto rows = std::min<std::int64_t>(band, 1 + bytes / (sizeof(T) * row_cells));
    return static_cast<std::uintptr_t>(rows * row_ + (rows < left ? 0 : plane_ - band * row_)) * sizeof(T);
  }

  const T *u_, *source_; ///< cell (0, 0, 0), as that of out
  T* out_;
  std::int64_t row_, plane_, source_row_, source_plane_; ///< strides; those of out are those of u
  std::int64_t cells_[3];
  bool ends_[6]; ///< faces where the whole grid ends
  Stencil<T> stencil_;
  Weights inner_; ///< of rows at no face
};

/// One sweep over boxes of rows.
template <int dimensions, bool sourced, Norm norm, bool streaming, class T>
struct RowSweep : BlockRows<dimensions, sourced, T> {
  RowSweep(const SweepInput<T>& in, const FieldView<T>& out, std::uintptr_t prefetch_bytes)
      : BlockRows<dimensions, sourced, T>(in, out), prefetch(prefetch_bytes) {}

  /// In 3-D through bands of so many rows, whose three planes stay in cache.
  double operator()(const Box& box, std::int64_t band) const {
    double result = 0;
    for (auto y = box.begin[1]; y < box.end[1]; y += band)
      for (auto k = box.begin[2]; k < box.end[2]; ++k)
        for (auto j = y, end = std::min(y + band, box.end[1]); j < end; ++j)
          result = joined<norm>(result, of_row(j, k, box, y + band - j, band));
    if constexpr (streaming) miniapp::stream_fence();
    return result;
  }

  /// A function of its own, so that its innermost loop has the registers for itself.
  [[gnu::noinline]] double of_row(std::int64_t j, std::int64_t k, const Box& box, std::int64_t left,
                                  std::int64_t band) const {
    const auto at = j * this->row_ + k * this->plane_;
    const T* const u = this->u_ + at;
    Row<T> row{u, u - this->row_, u + this->row_, nullptr, nullptr, nullptr, this->out_ + at};
    if constexpr (dimensions == 3) {
      row.below = u - this->plane_;
      row.above = u + this->plane_;
    }
    if constexpr (sourced) row.source = this->source_ + k * this->source_plane_ + j * this->source_row_;
    return this->template update<norm, streaming>(row, j, k, box.begin[0], box.end[0],
                                                  this->ahead(prefetch, box.extent(0), left, band));
  }

  std::uintptr_t prefetch; ///< bytes
};

} // namespace detail

/// Calls of_box(n) for n below count, by threads. Returns the sum or maximum.
template <Norm norm, class ExecutionSpace, class OfBox>
double over_boxes(const ExecutionSpace& instance, std::int64_t count, const OfBox& of_box) {
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>> policy(instance, 0, count);
  double result = 0;
  if constexpr (norm == Norm::none)
    Kokkos::parallel_for("heat/sweep", policy, [=](std::int64_t n) { of_box(n); });
  else if constexpr (norm == Norm::max)
    Kokkos::parallel_reduce(
        "heat/sweep", policy, [=](std::int64_t n, double& sum) { sum = joined<Norm::max>(sum, of_box(n)); },
        Kokkos::Max<double>(result));
  else
    Kokkos::parallel_reduce(
        "heat/sweep", policy, [=](std::int64_t n, double& sum) { sum += of_box(n); }, result);
  return result;
}

/// Local. On a CPU: a sweep of `box`, whose ghost cells must be valid. Returns the part of the norm.
template <class T, class ExecutionSpace>
double sweep_rows(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, const Box& box,
                  Norm norm, const PassShape& shape) {
  const auto with_stores = [&](auto streamed) {
    return with_constants(
        in.block.dimensions, in.source.size() > 0, norm, [&](auto dimensions, auto sourced, auto norm_kind) -> double {
          const detail::RowSweep<dimensions(), sourced(), norm_kind(), streamed(), T> sweep(in, out, shape.prefetch);
          const auto threads = static_cast<std::int64_t>(instance.concurrency());
          const auto share = std::max<std::int64_t>(1, (box.extent(1) + threads - 1) / threads);
          const auto band = dimensions() == 3 ? shape.band(box.extent(0), sizeof(T)) : box.extent(1);
          const auto of_box = [=](std::int64_t n) {
            auto part = box;
            part.begin[1] = std::min(box.end[1], box.begin[1] + n * share);
            part.end[1] = std::min(box.end[1], part.begin[1] + share);
            return sweep(part, band);
          };
          return over_boxes<norm_kind()>(instance, (box.extent(1) + share - 1) / share, of_box);
        });
  };
  return shape.streaming ? with_stores(std::true_type()) : with_stores(std::false_type());
}

/// Compiled once, in rows.cpp.
using RowsInstance = FieldView<float>::execution_space;
extern template double sweep_rows(const RowsInstance&, const SweepInput<float>&, const FieldView<float>&, const Box&,
                                  Norm, const PassShape&);
extern template double sweep_rows(const RowsInstance&, const SweepInput<double>&, const FieldView<double>&, const Box&,
                                  Norm, const PassShape&);

} // namespace kontor::heat
