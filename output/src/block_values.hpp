// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"
#include "hdf5.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace kontor::output {

/// The values of this rank's block, to be had box by box. They stay the caller's.
class BlockValues {
 public:
  using FetchBytes = std::function<void(const Box&, void*)>;

  /// In host memory; without strides contiguous.
  BlockValues(hid_t type, const Extents& extent, const void* data, Strides strides);
  /// Wherever `fetch` copies from.
  BlockValues(hid_t type, FetchBytes fetch);

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

/// Whether elements of such extents and strides follow each other in C order.
bool is_contiguous(const Extents& extent, const Strides& strides);

/// The bytes before the element at `index`.
std::int64_t byte_offset(const Extents& index, const Strides& strides, std::size_t size);

} // namespace kontor::output
