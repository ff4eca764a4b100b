// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/block.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kontor::output {

using Extents = std::vector<std::uint64_t>;

/// The bytes of values that are copied at a time.
inline constexpr std::uint64_t piece_bytes = 16 << 20;

/// The number of elements.
std::uint64_t elements(const Extents& extent);

/// The elements of a contiguous block before those of a slab of it (for_each_slab()).
std::uint64_t elements_before(const Extents& extent, const Box& slab);

/// Where the box of a block lies in the array.
Box in_array(const Block& block, const Box& box);

/// Calls work(box) for slabs of a block along its slowest dimension, in order: of about piece_bytes each, and of one
/// index at least. An element has `size` bytes.
template <class Work>
void for_each_slab(const Extents& extent, std::size_t size, const Work& work) {
  const std::uint64_t all = elements(extent);
  if (all == 0) return;
  Box slab{Extents(extent.size(), 0), extent};
  const std::uint64_t most = std::max<std::uint64_t>(1, piece_bytes / (all / extent[0] * size));
  for (std::uint64_t& first = slab.offset[0]; first < extent[0]; first += most) {
    slab.extent[0] = std::min(most, extent[0] - first);
    work(std::as_const(slab));
  }
}

/// The elements of a box of an array that follow each other in the array without a gap; 0 if it is empty.
std::uint64_t run_length(const Box& box, const Extents& array);

/// Calls run(place, count) for all in order: the first element's number in the array, and how many follow each other.
template <class Run>
void for_each_run(const Box& box, const Extents& array, Run&& run) {
  const std::uint64_t count = run_length(box, array);
  if (count == 0) return;
  const std::uint64_t all = elements(box.extent);
  for (std::uint64_t first = 0; first < all; first += count) {
    std::uint64_t place = 0, rest = first, stride = 1;
    for (std::size_t d = box.extent.size(); d-- > 0;) {
      place += (box.offset[d] + rest % box.extent[d]) * stride;
      rest /= box.extent[d];
      stride *= array[d];
    }
    run(place, count);
  }
}

} // namespace kontor::output
