// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "views/pack.hpp"

namespace kontor::comm::detail {
namespace {

/// The loop of the least stride, if it is not the innermost one: -1 if it is, or if it is too short to gain by tiles.
int loop_across(const LoopNest& nest) {
  constexpr std::int64_t least = 4;
  const int inner = nest.depth - 1;
  int best = inner;
  for (int d = 0; d < inner; ++d)
    if (nest.extents[d] >= least && nest.strides[d] < nest.strides[best]) best = d;
  return best == inner || nest.extents[inner] < least ? -1 : best;
}

} // namespace

int word_of(const Piece& piece) {
  const auto all = reinterpret_cast<std::uintptr_t>(piece.array) | reinterpret_cast<std::uintptr_t>(piece.packed) |
                   std::uintptr_t{piece.size};
  int word = 16;
  while (all % static_cast<std::uintptr_t>(word) != 0) word /= 2;
  return word;
}

PackItem pack_item(const Piece& piece, std::int64_t chunk, std::int64_t first_item,
                   std::vector<std::int64_t>& offsets) {
  const int word = word_of(piece);
  PackItem item{static_cast<char*>(piece.array), static_cast<char*>(piece.packed),
                in_words(piece.nest, piece.size / static_cast<std::uint32_t>(word)), word};
  const auto& nest = item.nest;
  const auto length = nest.extents[nest.depth - 1];
  item.rows = 1;
  if (chunk > 1 && nest.indexed < 0) item.across = loop_across(nest);
  for (int d = 0; d + 1 < nest.depth; ++d)
    item.rows *= d == item.across ? (nest.extents[d] + tile - 1) / tile : nest.extents[d];
  const bool tiles = item.across >= 0;
  item.rows_at_once = length == 0 || tiles ? 1 : std::max<std::int64_t>(1, chunk / length);
  item.row_items = tiles ? 1 : (length + chunk - 1) / chunk;
  item.first_item = first_item;
  item.first_offset = static_cast<std::int64_t>(offsets.size());
  if (nest.indexed >= 0)
    for (std::int64_t i = 0; i < nest.extents[nest.indexed]; ++i)
      // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a nest with a loop by index comes with indices
      offsets.push_back(piece.indices[i] * nest.strides[nest.indexed]);
  return item;
}

std::int64_t items_of(const PackItem& item) {
  return (item.rows + item.rows_at_once - 1) / item.rows_at_once * item.row_items;
}

} // namespace kontor::comm::detail
