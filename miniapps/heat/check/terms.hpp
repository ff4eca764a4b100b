// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"
#include "heat/options.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// Checks of a result by formulas, weights and ghosts that the sweep does not use.
namespace kontor::heat {

/// The smallest and the largest of some values; of none at first.
struct Range {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();

  void add(double value) {
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  double width() const { return largest - smallest; }
  double magnitude() const { return std::max(std::abs(smallest), std::abs(largest)); }
};

/// That of the values of both.
inline constexpr auto both = [](const Range& a, const Range& b) {
  return Range{std::min(a.smallest, b.smallest), std::max(a.largest, b.largest)};
};

/// The deck's equation in the cells of a block, from its options alone.
struct Terms {
  double c[3] = {};       ///< alpha / h^2
  double h[3] = {};       ///< cell widths
  bool dirichlet[6] = {}; ///< faces of the block at which u is given
  bool neumann[6] = {};   ///< and those at which its outward slope is
  double step = 0;        ///< dt; 0: steady

  bool boundary(int face) const { return dirichlet[face] || neumann[face]; }
};

/// Local. Options are resolved.
inline Terms terms_of(const Options& options, const Block& block, double step) {
  Terms terms{.step = step};
  for (int face = 0; face < 2 * options.dimensions(); ++face) {
    const int axis = face / 2;
    terms.h[axis] = (options.upper[axis] - options.lower[axis]) / static_cast<double>(options.cells[axis]);
    terms.c[axis] = options.diffusivity / (terms.h[axis] * terms.h[axis]);
    const auto end = face % 2 == 0 ? std::int64_t{0} : block.offset[axis] + block.extents[axis];
    if (face % 2 == 0 ? block.offset[axis] > 0 : end < block.global[axis]) continue;
    terms.dirichlet[face] = options.faces[face].condition == Condition::dirichlet;
    terms.neumann[face] = options.faces[face].condition == Condition::neumann;
  }
  return terms;
}

/// A field that is judged. Its ghosts hold the neighbours' cells, and the given value or slope before boundary faces;
/// `source` is as in SweepInput.
template <class T>
struct Judged {
  FieldView<T> u;
  BlockView<T> source;
  Block block;
  Terms terms;
};

namespace detail {

// Not in the kernels: these are functions of the host.
inline constexpr double largest_finite = std::numeric_limits<double>::max();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A NaN must not be lost in a maximum.
KOKKOS_INLINE_FUNCTION double size_or_infinity(double value) {
  const double size = value < 0 ? -value : value;
  if (size <= largest_finite) return size;
  return infinity;
}

struct Residual {
  double value;
  double diagonal; ///< how much of it a change of u by one takes away
};

/// sum over axes of c (lower + upper - 2 u) + source at a cell, with the neighbours beyond boundary faces spelled out:
/// the residual in flux form.
template <class T>
KOKKOS_INLINE_FUNCTION Residual residual(const Judged<T>& in, std::int64_t i, std::int64_t j, std::int64_t k) {
  using P = Padding<T>;
  const std::int64_t index[3] = {i, j, k};
  const std::int64_t z = k + (in.block.dimensions == 3 ? 1 : 0);
  const double u = in.u(z, j + P::y, i + P::x);
  Residual sum{in.source.size() > 0 ? double(in.source(k, j, i)) : 0.0, 0.0};
  for (int axis = 0; axis < in.block.dimensions; ++axis) {
    for (int side = 0; side < 2; ++side) {
      const std::int64_t to = side == 0 ? -1 : 1;
      const double beyond =
          in.u(axis == 2 ? z + to : z, j + P::y + (axis == 1 ? to : 0), i + P::x + (axis == 0 ? to : 0));
      const bool outermost = index[axis] == (side == 0 ? 0 : in.block.extents[axis] - 1);
      const int face = 2 * axis + side;
      double flux = beyond - u, weight = 1;
      if (outermost && in.terms.dirichlet[face]) {
        flux = 2 * (beyond - u);
        weight = 2;
      } else if (outermost && in.terms.neumann[face]) {
        flux = in.terms.h[axis] * beyond;
        weight = 0;
      }
      sum.value += in.terms.c[axis] * flux;
      sum.diagonal += in.terms.c[axis] * weight;
    }
  }
  return sum;
}

/// The own cells (k, j, i) of a block.
inline auto cells_of(const Block& block) {
  using Space = FieldView<double>::execution_space;
  const auto& n = block.extents;
  return Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>, Kokkos::IndexType<std::int64_t>>({0, 0, 0}, {n[2], n[1], n[0]});
}

} // namespace detail

/// Local, waits. The largest update that a Jacobi sweep would still make: max |residual / d|. Infinite if a value is
/// not finite.
template <class T>
double largest_update(const Judged<T>& in) {
  double result = 0;
  Kokkos::parallel_reduce(
      "heat/residual", detail::cells_of(in.block),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& largest) {
        const auto left = detail::residual(in, i, j, k);
        const double size = detail::size_or_infinity(left.value / left.diagonal);
        if (size > largest) largest = size;
      },
      Kokkos::Max<double>(result));
  return result;
}

/// Local, waits. How far a field is from what one sweep or step makes of the field before: max |after - (u + weight
/// residual)|. Infinite if a value is not finite. `in.u` is the field before.
template <class T>
double step_defect(const Judged<T>& in, const FieldView<T>& after) {
  using P = Padding<T>;
  const std::int64_t z = P::z(in.block.dimensions);
  double result = 0;
  Kokkos::parallel_reduce(
      "heat/defect", detail::cells_of(in.block),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& largest) {
        const auto left = detail::residual(in, i, j, k);
        const double weight = in.terms.step == 0 ? 1 / left.diagonal : in.terms.step;
        const double expected = in.u(k + z, j + P::y, i + P::x) + weight * left.value;
        const double size = detail::size_or_infinity(after(k + z, j + P::y, i + P::x) - expected);
        if (size > largest) largest = size;
      },
      Kokkos::Max<double>(result));
  return result;
}

/// Local, waits. The largest change from one field to another, and the sum of the changes' squares.
template <class T>
std::array<double, 2> changes(const Block& block, const FieldView<T>& before, const FieldView<T>& after) {
  using P = Padding<T>;
  const std::int64_t z = P::z(block.dimensions);
  std::array<double, 2> result{};
  Kokkos::parallel_reduce(
      "heat/changes", detail::cells_of(block),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, double& largest, double& squares) {
        const T change = after(k + z, j + P::y, i + P::x) - before(k + z, j + P::y, i + P::x);
        const double size = detail::size_or_infinity(change);
        if (size > largest) largest = size;
        squares += size * size;
      },
      Kokkos::Max<double>(result[0]), result[1]);
  return result;
}

/// Local, waits. Of a field's own cells; infinite if a value is not finite.
template <class T>
Range range_of(const FieldView<T>& field, const Block& block) {
  using P = Padding<T>;
  const std::int64_t z = P::z(block.dimensions);
  Kokkos::MinMaxScalar<double> result;
  Kokkos::parallel_reduce(
      "heat/range", detail::cells_of(block),
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t j, std::int64_t i, Kokkos::MinMaxScalar<double> & range) {
        const double value = field(k + z, j + P::y, i + P::x);
        double known = value;
        if (!(detail::size_or_infinity(value) <= detail::largest_finite)) known = detail::infinity;
        if (known < range.min_val) range.min_val = known;
        if (known > range.max_val) range.max_val = known;
      },
      Kokkos::MinMax<double>(result));
  return {result.min_val, result.max_val};
}

} // namespace kontor::heat
