// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "block_values.hpp"

namespace kontor::output {

BlockValues::BlockValues(hid_t type, const Extents& extent, const void* data, Strides strides)
    : type_(type), size_(H5Tget_size(type)), data_(static_cast<const std::byte*>(data)),
      strides_(strides.empty() ? contiguous_strides(extent) : std::move(strides)) {}

BlockValues::BlockValues(hid_t type, FetchBytes fetch)
    : type_(type), size_(H5Tget_size(type)), fetch_(std::move(fetch)) {}

const std::byte* BlockValues::box(const Box& box, std::vector<std::byte>& room) const {
  const auto* first = data_ ? data_ + byte_offset(box.offset, strides_, size_) : nullptr;
  if (data_ && is_contiguous(box.extent, strides_)) return first;
  room.resize(elements(box.extent) * size_);
  if (data_)
    copy(box.extent, size_, first, strides_, room.data(), contiguous_strides(box.extent));
  else
    fetch_(box, room.data());
  return room.data();
}

bool is_contiguous(const Extents& extent, const Strides& strides) {
  std::int64_t expected = 1;
  for (std::size_t d = extent.size(); d-- > 0;) {
    if (extent[d] > 1 && strides[d] != expected) return false;
    expected *= static_cast<std::int64_t>(extent[d]);
  }
  return true;
}

std::int64_t byte_offset(const Extents& index, const Strides& strides, std::size_t size) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += static_cast<std::int64_t>(index[d]) * strides[d];
  return offset * static_cast<std::int64_t>(size);
}

} // namespace kontor::output
