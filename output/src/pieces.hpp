// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "hdf5.hpp"

#include <kontor/output/file.hpp>

#include <cstdint>
#include <vector>

namespace kontor::output {

/// The bytes of a field that are moved at a time: what rank 0 holds beside its own block.
inline constexpr std::uint64_t piece_bytes = 16 << 20;

/// A part of a block that is contiguous in the memory of the block.
struct Piece {
  std::vector<hsize_t> start, count; ///< where it lies in the global array
  std::uint64_t first = 0;           ///< its first element, counted in the block
  std::uint64_t elements = 0;
};

std::uint64_t elements(const std::vector<std::uint64_t>& extent);

/// Cuts a block into pieces of at most `max_elements`, in the order of the block's memory.
std::vector<Piece> pieces(const Block& block, std::uint64_t max_elements);

/// Pieces of at most piece_bytes for elements of the given type.
std::vector<Piece> pieces(const Block& block, hid_t type);

/// Writes or reads one piece of a dataset, from or to contiguous memory.
void write_piece(hid_t dataset, const std::string& name, const Piece& piece, hid_t type, const void* data);
void read_piece(hid_t dataset, const std::string& name, const Piece& piece, hid_t type, void* data);

} // namespace kontor::output
