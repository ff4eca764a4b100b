// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"

namespace kontor::output {

// Made to notice lost, altered or misplaced data at the speed of memory, not to withstand forgery.

/// A 64-bit checksum of `bytes` at `data`, continued from `seed`.
std::uint64_t checksum(const void* data, std::size_t bytes, std::uint64_t seed = 0);

/// A checksum of a box of an array, whose elements of `size` bytes are contiguous at `data`. It knows the elements'
/// places in the array: the checksums of boxes that fill the array, however it was cut, add up to the same number.
std::uint64_t box_sum(const void* data, std::size_t size, const Box& box, const Extents& array);

/// The same of `count` elements that follow each other in the array, the first of which has that number.
std::uint64_t run_sum(const void* data, std::size_t size, std::uint64_t first, std::uint64_t count);

} // namespace kontor::output
