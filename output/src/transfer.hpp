// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "block_values.hpp"

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kontor::output {

// The ways that blocks reach a dataset which rank 0 has created.

/// A field on its way.
struct Field {
  const std::string& name;
  const Block& block; ///< of this rank
  const BlockValues& values;
};

/// What a rank has done of a field.
struct Share {
  std::uint64_t handed_over = 0; ///< box_sum() of this rank's block
  std::vector<Box> written;      ///< what it has written, in the array
};

/// The bytes that a rank writes at a time.
inline constexpr std::uint64_t parallel_bytes = 64 << 20;

/// Rows of at least so many bytes are written as they lie; shorter ones are first brought together to pieces of so
/// many.
inline constexpr std::uint64_t long_row_bytes = 2 << 20;

/// Collective over comm. Every rank writes into the file at `path`, where the dataset's values begin at byte `address`.
/// Values in memory and in the file are of the same type.
Share write_parallel(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field);

/// As write_parallel(), each rank its own block.
Share write_rows(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field);

/// As write_parallel(), each of the first `writers` ranks contiguous pieces of the array, of which the others send it
/// what is theirs: in memory a piece to write, and one each to send, to receive and to copy of its own. Pieces have
/// long_row_bytes, or piece_bytes if a function copies the values. Other ranks do not open the file.
Share write_pieces(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field,
                   int writers);

/// As write_parallel(), but rank 0 alone opens the file and writes.
Share write_gathered(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address, const Field& field);

} // namespace kontor::output
