// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/check/truncation.hpp"

#include "heat/check/terms.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kontor::heat {
namespace {

using Values = std::vector<double>;

/// Up to `most` of the indices below n, evenly, the first and the last among them.
std::vector<std::int64_t> some_of(std::int64_t n, std::int64_t most) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(n, most)));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  if (n > most)
    for (auto& index : indices) index = index * (n - 1) / (most - 1);
  return indices;
}

/// The cells looked at in row (j, k), and the solution near them.
struct Cells {
  const Options& options;
  const Block& block;
  const grid::DeckFunction& exact;
  std::vector<std::int64_t> i;
  std::int64_t j = 0;
  std::int64_t k = 0;

  std::int64_t own(int axis, std::size_t n) const { return axis == 0 ? i[n] : axis == 1 ? j : k; }

  bool has(int face, Condition condition) const { return options.faces[face].condition == condition; }

  /// Whether a cell touches this face of the domain, and the face is not periodic.
  bool touches(int face, std::size_t n) const {
    const int axis = face / 2;
    const auto index = block.offset[axis] + own(axis, n);
    return index == (face % 2 == 0 ? 0 : block.global[axis] - 1) && !has(face, Condition::periodic);
  }

  /// `cells` from the centre along the axis. A whole cell leads to the neighbour's centre, round a periodic axis, and
  /// stays where there is no neighbour; less than one leads no farther than to the face.
  double coordinate(int axis, std::size_t n, double cells) const {
    auto index = own(axis, n);
    if (cells * cells == 1) {
      const auto last = block.global[axis] - 1;
      auto neighbour = block.offset[axis] + index + static_cast<std::int64_t>(cells);
      const bool round = has(2 * axis, Condition::periodic);
      if (neighbour < 0) neighbour = round ? last : 0;
      if (neighbour > last) neighbour = round ? 0 : last;
      index = neighbour - block.offset[axis];
      cells = 0;
    }
    return block.coordinate(axis, index) + cells * block.spacing[axis];
  }

  /// The solution in the centres, or `cells` from them along an axis.
  Values values(double t, int along = 0, double cells = 0) const {
    const auto at = [&](int axis, std::size_t n) { return coordinate(axis, n, axis == along ? cells : 0); };
    Values x(i.size()), result(i.size());
    for (std::size_t n = 0; n < i.size(); ++n) x[n] = at(0, n);
    exact.function.evaluate(x, at(1, 0), at(2, 0), t, result);
    return result;
  }
};

/// Adds what the formula of an axis, c times differences, misses of the second derivative. That is taken from
/// differences over half and over quarter of a cell, to fourth order. What lies beyond a boundary face follows from the
/// solution's own value or slope there.
void add_space(const Cells& cells, int axis, double t, const Values& u, Values& sum) {
  const double c = cells.options.diffusivity / (cells.block.spacing[axis] * cells.block.spacing[axis]);
  const std::array<int, 2> faces{2 * axis, 2 * axis + 1};
  std::array<Values, 2> on_face, beyond, near; // below and above
  for (const int side : {0, 1}) {
    const double sign = side == 0 ? -1 : 1;
    on_face[side] = cells.values(t, axis, sign / 2);
    beyond[side] = cells.values(t, axis, sign);
    near[side] = cells.values(t, axis, sign / 4);
  }
  for (std::size_t n = 0; n < u.size(); ++n) {
    double formula = 0;
    for (const int side : {0, 1}) {
      if (!cells.touches(faces[side], n)) {
        formula += beyond[side][n] - u[n];
        continue;
      }
      formula += cells.has(faces[side], Condition::dirichlet)
                     ? 2 * (on_face[side][n] - u[n])
                     : 4 * (11.0 / 6 * on_face[side][n] - 3 * near[side][n] + 1.5 * u[n] -
                            near[1 - side][n] / 3); // h times the outward slope, to third order
    }
    const double half = 4 * ((on_face[0][n] - u[n]) + (on_face[1][n] - u[n]));
    const double quarter = 16 * ((near[0][n] - u[n]) + (near[1][n] - u[n]));
    sum[n] += c * (formula - (4 * quarter - half) / 3);
  }
}

/// What a step of explicit Euler misses: twice the difference of a step from two of half the length.
void add_time(const Cells& cells, double t, double step, const Values& u, Values& sum) {
  const auto middle = cells.values(t + step / 2);
  const auto end = cells.values(t + step);
  for (std::size_t n = 0; n < u.size(); ++n) sum[n] -= 2 * ((end[n] - middle[n]) - (middle[n] - u[n])) / step;
}

void take_in(const Cells& cells, const Values& missed, Truncation& largest) {
  for (std::size_t n = 0; n < missed.size(); ++n) {
    const double size = detail::size_or_infinity(missed[n]);
    double* place = &largest.inner;
    double held = 0; // what Dirichlet faces add to the diagonal beyond the neighbours' weights
    for (int face = 0; face < 2 * cells.block.dimensions; ++face) {
      if (!cells.touches(face, n)) continue;
      const double h = cells.block.spacing[face / 2];
      if (cells.has(face, Condition::dirichlet))
        held += 2 * cells.options.diffusivity / (h * h);
      else
        place = &largest.neumann[face];
    }
    if (held > 0) place = &largest.dirichlet;
    *place = std::max(*place, held > 0 ? size / held : size);
  }
}

} // namespace

Truncation truncation(const Options& options, const Block& block, const grid::DeckFunction& exact, double t,
                      double step, std::int64_t most) {
  Truncation largest;
  Cells cells{options, block, exact, some_of(block.extents[0], most)};
  for (const auto k : some_of(block.extents[2], most)) {
    for (const auto j : some_of(block.extents[1], most)) {
      cells.j = j;
      cells.k = k;
      const auto u = cells.values(t);
      Values missed(u.size());
      for (int axis = 0; axis < block.dimensions; ++axis) add_space(cells, axis, t, u, missed);
      if (step > 0) add_time(cells, t, step, u, missed);
      take_in(cells, missed, largest);
    }
  }
  return largest;
}

} // namespace kontor::heat
