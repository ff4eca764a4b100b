// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "box.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace kontor::output {

namespace {

void copy_row(std::uint64_t count, std::size_t size, const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride) {
  if (from_stride == 1 && to_stride == 1) return void(std::memcpy(to, from, count * size));
  const std::int64_t bytes = size == 8 ? 8 : 4; // known to the compiler
  for (std::uint64_t i = 0; i < count; ++i, from += from_stride * bytes, to += to_stride * bytes)
    std::memcpy(to, from, bytes);
}

} // namespace

std::uint64_t elements(const Extents& extent) {
  return std::accumulate(extent.begin(), extent.end(), std::uint64_t{1}, std::multiplies<>());
}

Strides contiguous_strides(const Extents& extent) {
  Strides strides(extent.size(), 1);
  for (std::size_t d = extent.size(); d-- > 1;) strides[d - 1] = strides[d] * static_cast<std::int64_t>(extent[d]);
  return strides;
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

Box in_array(const Block& block, const Box& box) {
  Box result = box;
  for (std::size_t d = 0; d < result.offset.size(); ++d) result.offset[d] += block.offset[d];
  return result;
}

std::uint64_t run_length(const Box& box, const Extents& array) {
  std::size_t axis = box.extent.size() - 1;
  std::uint64_t count = box.extent[axis];
  while (axis > 0 && box.extent[axis] == array[axis]) count *= box.extent[--axis];
  return elements(box.extent) == 0 ? 0 : count;
}

void copy(const Extents& extent, std::size_t size, const std::byte* from, const Strides& from_strides, std::byte* to,
          const Strides& to_strides) {
  const std::size_t last = extent.size() - 1;
  const Extents outer(extent.begin(), extent.end() - 1);
  const std::uint64_t rows = elements(outer);
  const auto bytes = static_cast<std::int64_t>(size);
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::int64_t source = 0, target = 0;
    std::uint64_t rest = row;
    for (std::size_t d = last; d-- > 0; rest /= extent[d]) {
      const auto index = static_cast<std::int64_t>(rest % extent[d]);
      source += index * from_strides[d];
      target += index * to_strides[d];
    }
    copy_row(extent[last], size, from + source * bytes, from_strides[last], to + target * bytes, to_strides[last]);
  }
}

} // namespace kontor::output
