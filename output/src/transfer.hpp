// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"
#include "hdf5.hpp"

#include <kontor/output/error.hpp>

#include <mpi.h>

#include <filesystem>

namespace kontor::output {

// The ways that blocks reach a dataset which rank 0 has created.

/// The values of this rank's block, to be had box by box. They stay the caller's.
class BlockValues {
 public:
  using FetchBytes = std::function<void(const Box&, void*)>;

  /// In host memory; without strides contiguous.
  BlockValues(hid_t type, const Extents& extent, const void* data, Strides strides)
      : type_(type), size_(H5Tget_size(type)), data_(static_cast<const std::byte*>(data)),
        strides_(strides.empty() ? contiguous_strides(extent) : std::move(strides)) {}
  /// Wherever `fetch` copies from.
  BlockValues(hid_t type, FetchBytes fetch) : type_(type), size_(H5Tget_size(type)), fetch_(std::move(fetch)) {}

  hid_t type() const { return type_; }
  std::size_t size() const { return size_; }
  bool any() const { return data_ || fetch_; }

  /// Whether a function copies them, maybe from a device: then large boxes are best.
  bool are_fetched() const { return fetch_ != nullptr; }

  /// The values of a box of the block, contiguous: where they lie if they are so there, else copied to `room`.
  const std::byte* box(const Box& box, std::vector<std::byte>& room) const;

 private:
  hid_t type_;
  std::size_t size_;
  const std::byte* data_ = nullptr;
  Strides strides_;
  FetchBytes fetch_;
};

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

/// Takes this rank's values box by box, and their checksum. A failure is kept: this rank goes on with what others need.
class HandOver {
 public:
  explicit HandOver(const Field& field) : field_(field) {}

  /// The values of a box of the block, valid until the next call; anything at all after a failure.
  const std::byte* box(const Box& box);

  /// Of all boxes so far.
  std::uint64_t sum() const { return sum_; }

  /// Throws Error if values could not be taken.
  void check() const {
    if (!failure_.empty()) throw Error(failure_);
  }

 private:
  const Field& field_;
  std::vector<std::byte> room_;
  std::uint64_t sum_ = 0;
  std::string failure_;
};

/// Local. Throws Error if this is not a block of an array of rank 1 to 3. `strides` are those of its values in memory,
/// none if they are contiguous; `any` tells whether there are values.
void check_block(const std::string& name, const Block& block, const Strides& strides, bool any);

/// Collective over comm. Throws Error if the blocks of the ranks are not of one array, or do not fill it: each element
/// must be in exactly one of them.
void check_cover(MPI_Comm comm, const std::string& name, const Block& block);

/// The bytes that a rank writes at a time.
inline constexpr std::uint64_t parallel_bytes = 64 << 20;

/// Rows of at least so many bytes are written as they lie; shorter ones first become pieces of so many.
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
