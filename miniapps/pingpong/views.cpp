// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/field.hpp"
#include "pingpong/measures.hpp"

#include <algorithm>
#include <cmath>

namespace kontor::pingpong {

bool works_on_device(Measure measure) {
  return measure == Measure::halo || measure == Measure::exchange;
}

namespace {

/// Of a block of size^dimensions cells with its ghost cells.
double bytes_of_block(int dimensions, ScalarName scalar, std::int64_t size) {
  grid::Block block;
  block.dimensions = dimensions;
  for (int axis = 0; axis < dimensions; ++axis) block.extents[axis] = size;
  double bytes = 0;
  with_scalar(scalar, [&](auto value) {
    bytes = sizeof(value);
    const auto extents = grid::field_extents<decltype(value)>(block);
    for (int d = 0; d < 3; ++d) bytes *= static_cast<double>(extents[d]);
  });
  return bytes;
}

} // namespace

double bytes_of_views(Measure measure, int ranks, int dimensions, ScalarName scalar, std::int64_t size) {
  const auto edge = static_cast<double>(size);
  const auto cube = std::pow(edge, dimensions) * static_cast<double>(bytes_of(scalar));
  switch (measure) {
  case Measure::roundtrip:
  case Measure::calls:
  case Measure::model: return 2 * cube;
  case Measure::bcast: return cube;
  case Measure::collectives:
    return 7 * cube * ranks; // along a grid: in, out, two that were received, three between hops
  case Measure::halo: return bytes_of_block(dimensions, scalar, size);
  case Measure::strided: return cube;
  case Measure::exchange: { // out and in, and what a handful of ways pack them into
    const auto column = edge * static_cast<double>(bytes_of(scalar));
    return 2 * column * (dimensions == 1 ? 4 : 4 + width_of_plane);
  }
  }
  return cube;
}

} // namespace kontor::pingpong
