// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/views/layout.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace kontor::comm {
WireOrder storage_order(const Shape& shape) {
  const auto key = [&](int d) {
    return shape.extents[d] == 1 ? std::numeric_limits<std::int64_t>::max() : shape.strides[d];
  };
  WireOrder order{shape.rank, {}};
  const auto end = order.dims.begin() + shape.rank;
  std::iota(order.dims.begin(), end, 0);
  std::stable_sort(order.dims.begin(), end, [&](int a, int b) { return key(a) > key(b); });
  return order;
}

std::int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.extents.begin(), shape.extents.begin() + shape.rank, std::int64_t{1},
                         std::multiplies<>());
}

bool is_contiguous(const Shape& shape, const WireOrder& order) {
  const auto nest = loop_nest(shape, order);
  return nest.indexed < 0 && (nest.depth == 0 || (nest.depth == 1 && nest.strides[0] == 1));
}

WireOrder wire_order(const Shape& sender, const Shape& receiver) {
  const auto senders = storage_order(sender);
  if (is_contiguous(sender, senders)) return senders;
  const auto receivers = storage_order(receiver);
  return is_contiguous(receiver, receivers) ? receivers : senders;
}

LoopNest loop_nest(const Shape& shape, const WireOrder& order) {
  LoopNest nest;
  if (element_count(shape) == 0) {
    nest.depth = 1;
    nest.strides[0] = 1;
    return nest;
  }
  for (int i = 0; i < shape.rank; ++i) {
    const int d = order.dims[i];
    const auto extent = shape.extents[d];
    const auto stride = shape.strides[d];
    const bool indexed = shape.by_index && d == 0;
    if (extent == 1 && !indexed) continue;
    const bool beside_indexed = indexed || nest.indexed == nest.depth - 1;
    if (nest.depth > 0 && !beside_indexed && nest.strides[nest.depth - 1] == extent * stride) {
      nest.extents[nest.depth - 1] *= extent;
      nest.strides[nest.depth - 1] = stride;
    } else {
      nest.extents[nest.depth] = extent;
      nest.strides[nest.depth] = stride;
      if (indexed) nest.indexed = nest.depth;
      ++nest.depth;
    }
  }
  return nest;
}

std::int64_t step_count(const LoopNest& nest, int loops) {
  return std::accumulate(nest.extents, nest.extents + loops, std::int64_t{1}, std::multiplies<>());
}

std::int64_t offset_of(const LoopNest& nest, int loops, std::int64_t i, const std::int64_t* indices) {
  std::int64_t offset = 0;
  for (int d = loops - 1; d >= 0; --d) {
    const auto step = i % nest.extents[d];
    offset += (d == nest.indexed ? indices[step] : step) * nest.strides[d];
    i /= nest.extents[d];
  }
  return offset;
}

LoopNest in_words(LoopNest nest, std::int64_t words) {
  const int inner = nest.depth - 1;
  if (words == 1 && nest.depth > 0) return nest;
  for (int d = 0; d < nest.depth; ++d) nest.strides[d] *= words;
  if (inner >= 0 && inner != nest.indexed && nest.strides[inner] == words) {
    nest.extents[inner] *= words;
    nest.strides[inner] = 1;
  } else {
    nest.extents[nest.depth] = words;
    nest.strides[nest.depth] = 1;
    ++nest.depth;
  }
  return nest;
}

Shape packed_shape(const Shape& shape, const WireOrder& order) {
  Shape packed = shape;
  packed.by_index = false;
  std::int64_t stride = 1;
  for (int i = order.rank - 1; i >= 0; --i) {
    packed.strides[order.dims[i]] = stride;
    stride *= shape.extents[order.dims[i]];
  }
  return packed;
}

} // namespace kontor::comm
