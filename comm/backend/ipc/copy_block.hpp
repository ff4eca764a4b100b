// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/buffer.hpp>
#include <kontor/device/system_atomic.hpp>

/// How a kernel walks over the elements of two arrays at once. No CUDA in this file.
namespace kontor::comm::ipc {

/// The dimensions of a View, and the bytes of an element.
inline constexpr int max_loops = max_rank + 1;

/// One loop nest, slowest loop first, that copies `unit` bytes at a time: the largest of 1, 2, 4, 8 and 16 for which
/// all the places are aligned.
struct CopyBlock {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::uint32_t unit = 1;                    ///< bytes
  std::uint32_t units = 0;                   ///< in all loops
  std::uint32_t first_tile = 0;              ///< of the kernel, counted over all its blocks
  int loops = 0;                             ///< at least one
  std::uint32_t extents[max_loops] = {};     ///< of each loop
  std::int64_t from_strides[max_loops] = {}; ///< bytes from one step of a loop to the next
  std::int64_t to_strides[max_loops] = {};
};

/// What a unit's index comes to, in bytes.
struct Offsets {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// A block of so many threads copies a tile: each thread so many units, all loaded before they are stored.
inline constexpr int tile_threads = 256;
inline constexpr int tile_turns = 4;
inline constexpr std::uint32_t tile_units = tile_threads * tile_turns;

/// Units that one block has at most, so that their indices are 32-bit numbers, which divide faster.
inline constexpr std::int64_t max_units = std::int64_t{1} << 31;

/// Local. The blocks that copy all elements of one array to another one of equal extents and scalar, equal logical
/// indices to each other. Neighbouring units are neighbours in the memory that is written: most often one block, none
/// for no elements, and several where there are more than `limit` units.
std::vector<CopyBlock> copy_blocks(const Buffer& from, const Buffer& to, std::int64_t limit = max_units);

/// Gives the blocks their tiles and returns how many there are.
std::uint32_t number_tiles(std::vector<CopyBlock>&);

/// The block that a tile belongs to.
KONTOR_EITHER const CopyBlock& block_of(const CopyBlock* copy_blocks, int count, std::uint32_t tile) {
  int p = 0;
  while (p + 1 < count && copy_blocks[p + 1].first_tile <= tile) ++p;
  return copy_blocks[p];
}

/// The index of a thread's unit in one of its turns; beyond the last one in the last tile.
KONTOR_EITHER std::uint32_t unit_of(const CopyBlock& block, std::uint32_t tile, int turn, int thread) {
  return (tile - block.first_tile) * tile_units + static_cast<std::uint32_t>(turn * tile_threads + thread);
}

/// Where that unit lies.
KONTOR_EITHER Offsets offsets_of(const CopyBlock& block, std::uint32_t unit) {
  Offsets offsets;
  for (int d = block.loops - 1; d > 0; --d) {
    const std::uint32_t rest = unit / block.extents[d];
    const std::int64_t step = unit - rest * block.extents[d];
    offsets.from += step * block.from_strides[d];
    offsets.to += step * block.to_strides[d];
    unit = rest;
  }
  offsets.from += unit * block.from_strides[0];
  offsets.to += unit * block.to_strides[0];
  return offsets;
}

} // namespace kontor::comm::ipc
