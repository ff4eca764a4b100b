// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "run/verify/digest.hpp"
#include "run/verify/places.hpp"
#include "run/verify/read_back.hpp"

#include <algorithm>

/// Samples of a field on a grid.
namespace kontor::stencil {

/// Local. Some of this rank's cells or points: one at each kind of end, then 32 anywhere.
inline std::vector<miniapp::Place> sampled_places(const grid::Block& block, std::uint64_t seed, int rank) {
  miniapp::IndexBox box;
  for (int axis = 0; axis < 3; ++axis) {
    box.global[axis] = block.global[axis];
    box.offset[axis] = block.offset[axis];
    box.extents[axis] = block.extents[axis];
  }
  auto random = miniapp::generator_of(seed, rank);
  return miniapp::sample_places(box, 32, random);
}

/// Local. Values (k, j, i) of own cells or points at these places, and where the dataset must have them; `centre` gives
/// the x, y, z of a place by the deck.
template <class Values, class Centre>
std::vector<miniapp::FileValue> file_values(const std::string& dataset, const grid::Block& block,
                                            const std::vector<miniapp::Place>& places, const Values& values,
                                            const Centre& centre) {
  std::vector<miniapp::FileValue> result;
  for (const auto& place : places) {
    const auto& index = place.index;
    const auto at = centre(place);
    miniapp::FileValue value{
        dataset, {}, static_cast<double>(values(index[2], index[1], index[0])), {at.begin(), at.end()}};
    for (int axis = block.dimensions - 1; axis >= 0; --axis)
      value.index.push_back(static_cast<std::uint64_t>(block.offset[axis] + index[axis]));
    result.push_back(std::move(value));
  }
  return result;
}

/// Local, waits. A checksum of values (k, j, i): equal ones mean equal bits in all of them.
template <class Values>
std::uint64_t digest(const Values& values) {
  using Space = typename Values::execution_space;
  const auto rows = static_cast<std::int64_t>(values.extent(1)), count = static_cast<std::int64_t>(values.extent(2));
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(
      "stencil/digest",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0,
                                                                  static_cast<std::int64_t>(values.extent(0)) * rows),
      KOKKOS_LAMBDA(std::int64_t row, std::uint64_t & part) {
        for (std::int64_t i = 0; i < count; ++i)
          part += miniapp::digest_of(static_cast<std::uint64_t>(row * count + i), values(row / rows, row % rows, i));
      },
      sum);
  return sum;
}

} // namespace kontor::stencil
