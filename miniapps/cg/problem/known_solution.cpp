// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/known_solution.hpp"

#include "cg/scale.hpp"

#include <kontor/comm/collectives.hpp>

#include <limits>
#include <numbers>

namespace kontor::cg {
namespace {

using HostValues = grid::HostBlockView<double>;

/// Of piecewise linear functions: the error in the middle of an element, where it is largest, is this times the second
/// difference.
constexpr double interpolation_error = 1. / 8;

/// The block with the layer around it, as far as there are points.
grid::Block with_layer(grid::Block block) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto begin = std::max<std::int64_t>(block.offset[axis] - 1, 0);
    const auto end = std::min(block.offset[axis] + block.extents[axis] + 1, block.global[axis]);
    block.offset[axis] = begin;
    block.extents[axis] = end - begin;
  }
  return block;
}

/// Sums over points; of squared second differences along each axis, and how many there are.
struct SumOf {
  enum { points, values, squares, second, seconds = second + 3, count = seconds + 3 };
};
using PointSums = std::array<double, SumOf::count>;

/// Of the block's own points, in this unit; `values` are with the layer.
PointSums sum_up(const HostValues& values, double unit, const grid::Block& block, const grid::Block& layered) {
  PointSums sums{};
  const auto first = [&](int axis) { return block.offset[axis] - layered.offset[axis]; };
  for (auto k = first(2); k < first(2) + block.extents[2]; ++k)
    for (auto j = first(1); j < first(1) + block.extents[1]; ++j)
      for (auto i = first(0); i < first(0) + block.extents[0]; ++i) {
        const double middle = unit * values(k, j, i);
        sums[SumOf::points] += 1;
        sums[SumOf::values] += middle;
        sums[SumOf::squares] += middle * middle;
        const std::int64_t at[] = {i, j, k};
        for (int axis = 0; axis < 3; ++axis) {
          if (at[axis] == 0 || at[axis] + 1 == layered.extents[axis]) continue; // the box ends
          const int x = axis == 0, y = axis == 1, z = axis == 2;
          const double second = unit * values(k - z, j - y, i - x) - 2 * middle + unit * values(k + z, j + y, i + x);
          sums[SumOf::second + axis] += second * second;
          sums[SumOf::seconds + axis] += 1;
        }
      }
  return sums;
}

/// The values of own points by row.
Vector own_values(const HostValues& values, const BoxRows& box, const grid::Block& layered) {
  const auto own = new_block(box, "cg/own points");
  const auto host = grid::room_on_host<double>(own);
  const auto range = [&](int axis) {
    const auto first = box.block.offset[axis] - layered.offset[axis];
    return std::pair(first, first + box.block.extents[axis]);
  };
  Kokkos::deep_copy(host, Kokkos::subview(values, range(2), range(1), range(0)));
  Kokkos::deep_copy(own, host);
  return by_rows(box, own, "cg/known solution");
}

} // namespace

KnownSolution known_solution(const config::Expression& exact, const comm::Communicator& comm, const BoxRows& box,
                             grid::FiniteCheck& finite) {
  const auto layered = with_layer(box.block);
  const HostValues values("cg/known solution", layered.extents[2], layered.extents[1], layered.extents[0]);
  grid::for_each_row(layered, grid::DeckFunction(exact), 0, finite,
                     [&](std::int64_t j, std::int64_t k, const std::vector<double>& row) {
                       std::copy(row.begin(), row.end(), &values(k, j, 0));
                     });
  KnownSolution known{own_values(values, box, layered), {}};
  const double unit = unit_of(largest_entry(comm, Space(), known.values));
  const auto sums = comm::allreduce(comm, sum_up(values, unit, box.block, layered), std::plus<>());
  for (int axis = 0; axis < 3; ++axis) {
    double bound = std::numeric_limits<double>::infinity(); // one element: nothing is known
    if (sums[SumOf::seconds + axis] > 0)
      bound = interpolation_error * std::sqrt(sums[SumOf::second + axis] / sums[SumOf::seconds + axis]) / unit;
    known.bound.discretisation += bound;
  }
  const double mean = sums[SumOf::values] / sums[SumOf::points];
  known.bound.variation = std::sqrt(std::max(sums[SumOf::squares] / sums[SumOf::points] - mean * mean, 0.0)) / unit;
  return known;
}

double least_eigenvalue(const StencilOptions& o) {
  double sum = 0, product = 1;
  for (const auto points : o.points) {
    const double sine = std::sin(std::numbers::pi / (2 * static_cast<double>(points + 1)));
    sum += 4 * sine * sine;         // 2 - 2 cos t
    product *= 3 - 4 * sine * sine; // 1 + 2 cos t
  }
  return o.size == 7 ? sum : 27 - product;
}

double least_eigenvalue(const FeHeatOptions& o) {
  // Along one axis: of the stiffness and mass matrix, for the longest wave and the shortest.
  struct Axis {
    double stiffness[2], mass[2];
  };
  std::array<Axis, 3> axes{};
  double ends = 1; // rows at ends that are not fixed weigh half
  for (int axis = 0; axis < 3; ++axis) {
    int fixed = 0;
    for (const int side : {0, 1}) fixed += o.faces[2 * axis + side].condition == FaceCondition::temperature ? 1 : 0;
    if (fixed < 2) ends /= 2;
    const double h = o.spacing(axis);
    const double angles[] = {fixed * std::numbers::pi / (2 * static_cast<double>(o.elements[axis])), std::numbers::pi};
    for (const int wave : {0, 1}) {
      axes[axis].stiffness[wave] = 2 * (1 - std::cos(angles[wave])) / h;
      axes[axis].mass[wave] = h * (2 + std::cos(angles[wave])) / 3;
    }
  }
  // Linear in the cosine of each axis, so the smallest is at an end of each.
  double smallest = std::numeric_limits<double>::infinity();
  for (int waves = 0; waves < 8; ++waves) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double product = axes[axis].stiffness[waves >> axis & 1];
      for (int other = 0; other < 3; ++other)
        if (other != axis) product *= axes[other].mass[waves >> other & 1];
      sum += product;
    }
    smallest = std::min(smallest, sum);
  }
  return ends * smallest;
}

} // namespace kontor::cg
