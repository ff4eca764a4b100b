// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/views/rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace kontor::comm {
namespace {

std::span<const std::int64_t> indices_of(const Buffer& buffer) {
  return {buffer.rows.indices, static_cast<std::size_t>(buffer.shape.extents[0])};
}

/// Two positions of the list that have the same row. Ascending lists need no memory.
std::optional<std::pair<std::size_t, std::size_t>> twice(std::span<const std::int64_t> indices) {
  if (std::ranges::adjacent_find(indices, std::ranges::greater_equal()) == indices.end()) return std::nullopt;
  std::vector<std::size_t> positions(indices.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::ranges::sort(positions, {}, [&](std::size_t i) { return std::pair(indices[i], i); });
  const auto found = std::ranges::adjacent_find(positions, {}, [&](std::size_t i) { return indices[i]; });
  if (found == positions.end()) return std::nullopt;
  return std::pair(*found, *(found + 1));
}

bool fits(const RowIndices& rows) { return rows.begin >= 0 && rows.begin <= rows.end && rows.end <= rows.extent; }

/// Moves `data` to a row.
void advance(Buffer& view, std::int64_t row) {
  if (row == 0) return; // there may be no memory
  view.data = static_cast<std::byte*>(view.data) + row * view.shape.strides[0] * view.scalar.size;
}

} // namespace

SelectedRows rows_between(Buffer view, std::int64_t begin, std::int64_t end) {
  auto& extent = view.shape.extents[0];
  view.rows = {.begin = begin, .end = end, .extent = extent, .label = {}};
  extent = 0;
  if (fits(view.rows)) {
    extent = end - begin;
    advance(view, begin);
  }
  return {std::move(view), nullptr};
}

SelectedRows rows_by_index(Buffer view, std::vector<std::int64_t> indices, std::string label) {
  const auto count = static_cast<std::int64_t>(indices.size());
  const auto extent = view.shape.extents[0];
  const auto first = indices.empty() ? 0 : indices.front();
  const bool consecutive =
      std::ranges::adjacent_find(indices, [](auto a, auto b) { return b != a + 1; }) == indices.end();
  if (consecutive && first >= 0 && first + count <= extent) return rows_between(std::move(view), first, first + count);
  auto kept = std::make_shared<const std::vector<std::int64_t>>(std::move(indices));
  view.rows = {.indices = kept->data(), .extent = extent, .label = std::move(label)};
  view.shape.extents[0] = count;
  view.shape.by_index = true;
  return {std::move(view), std::move(kept)};
}

std::optional<std::string> rows_problem(const Buffer& buffer, bool receives, CheckLevel level) {
  const auto& [indices, begin, end, extent, label] = buffer.rows;
  if (extent < 0) return std::nullopt;
  if (!buffer.shape.by_index) {
    if (fits(buffer.rows)) return std::nullopt;
    return fmt::format("rows from {} to before {} have been chosen, but it has {}", begin, end, extent);
  }
  if (level == CheckLevel::off) return std::nullopt;
  const auto list = indices_of(buffer);
  const auto outside = std::ranges::find_if(list, [&, n = extent](std::int64_t i) { return i < 0 || i >= n; });
  if (outside != list.end())
    return fmt::format("index list '{}' has {} at position {}, but it has {} rows: indices are 0 to {}", label,
                       *outside, outside - list.begin(), extent, extent - 1);
  if (!receives) return std::nullopt;
  if (const auto positions = twice(list))
    return fmt::format(
        "index list '{}' has {} at positions {} and {}, but a row is received once in a step; it has {} rows", label,
        list[positions->first], positions->first, positions->second, extent);
  return std::nullopt;
}

} // namespace kontor::comm
