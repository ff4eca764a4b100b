// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"
#include "hdf5.hpp"

#include <utility>

namespace kontor::output {

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

  /// The values of a box of the block, contiguous: where they lie if they are so there, else copied to `room`.
  const std::byte* box(const Box& box, std::vector<std::byte>& room) const;

 private:
  hid_t type_;
  std::size_t size_;
  const std::byte* data_ = nullptr;
  Strides strides_;
  FetchBytes fetch_;
};

/// Local. Throws Error if this is not a block of an array of rank 1 to 3. `strides` are those of its values in memory,
/// none if they are contiguous; `any` tells whether there are values.
void check_block(const std::string& name, const Block& block, const Strides& strides, bool any);

/// Local. Writes this rank's block to a file where the array's values begin at byte `address`. Returns the sum_of() of
/// its values. Throws Error, with `name`.
std::uint64_t write_values(int file, std::uint64_t address, const std::string& name, const Block& block,
                           const BlockValues& values);

} // namespace kontor::output
