// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "box.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace kontor::output {

namespace {

/// An inner loop over elements of a size that the compiler knows.
template <std::size_t size>
void copy_elements(std::uint64_t count, const std::byte* from, std::int64_t from_step, std::byte* to,
                   std::int64_t to_step) {
  for (std::uint64_t i = 0; i < count; ++i, from += from_step, to += to_step) std::memcpy(to, from, size);
}

void copy_row(std::uint64_t count, std::size_t size, const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride) {
  if (from_stride == 1 && to_stride == 1) return void(std::memcpy(to, from, count * size));
  const auto step = [size](std::int64_t stride) { return stride * static_cast<std::int64_t>(size); };
  if (size == 8) return copy_elements<8>(count, from, step(from_stride), to, step(to_stride));
  if (size == 4) return copy_elements<4>(count, from, step(from_stride), to, step(to_stride));
  for (std::uint64_t i = 0; i < count; ++i, from += step(from_stride), to += step(to_stride))
    std::memcpy(to, from, size);
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

Pieces::Pieces(Extents extent, std::uint64_t max_elements) : extent_(std::move(extent)) {
  const std::uint64_t all = elements(extent_);
  if (all == 0) return;
  std::uint64_t outer = 1, inner = all / extent_[0];
  while (inner > max_elements && cut_ + 1 < extent_.size()) {
    outer *= extent_[cut_];
    inner /= extent_[++cut_];
  }
  slab_ = std::max<std::uint64_t>(1, max_elements / inner);
  slabs_ = (extent_[cut_] + slab_ - 1) / slab_;
  count_ = outer * slabs_;
}

Box Pieces::operator[](std::uint64_t number) const {
  Box box{Extents(extent_.size(), 0), extent_};
  box.offset[cut_] = number % slabs_ * slab_;
  box.extent[cut_] = std::min(slab_, extent_[cut_] - box.offset[cut_]);
  number /= slabs_;
  for (std::size_t d = cut_; d-- > 0; number /= extent_[d]) {
    box.offset[d] = number % extent_[d];
    box.extent[d] = 1;
  }
  return box;
}

Pieces pieces_of(const Extents& extent, std::size_t size, std::uint64_t bytes) {
  return {extent, std::max<std::uint64_t>(1, bytes / size)};
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
