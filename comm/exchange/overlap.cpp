// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows by index have no strides. They, and what lies among them, are taken apart into pieces of consecutive
// bytes, which are sorted.
#include "exchange/overlap.hpp"

#include "views/overlap.hpp"
#include "views/rows_problem.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/views/layout.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kontor::comm {
namespace {

/// A View that travels, and where its bytes lie.
struct Span {
  const Buffer* buffer;
  int peer;
  bool receives;
  std::uintptr_t begin;
  std::uintptr_t end;
  bool in_pieces = false; ///< strides do not say whether it shares bytes with some other
};

void add(std::vector<Span>& spans, const Buffer& buffer, int peer, bool receives) {
  if (peer == no_rank || element_count(buffer.shape) == 0 || !buffer.data) return;
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (int d = 0; d < buffer.shape.rank; ++d) {
    std::int64_t lowest = 0;
    std::int64_t highest = buffer.shape.extents[d] - 1;
    if (buffer.shape.by_index && d == 0) {
      const auto [low, high] = std::minmax_element(buffer.rows.indices, buffer.rows.indices + highest + 1);
      lowest = *low;
      highest = *high;
    }
    first += lowest * buffer.shape.strides[d];
    last += highest * buffer.shape.strides[d];
  }
  const auto at = [&](std::int64_t element) {
    return reinterpret_cast<std::uintptr_t>(buffer.data) +
           static_cast<std::uintptr_t>(element) * buffer.scalar.size;
  };
  spans.push_back({&buffer, peer, receives, at(first), at(last + 1)});
}

/// Consecutive bytes of a View that travels.
struct Piece {
  std::uintptr_t begin;
  std::uintptr_t end;
  const Span* span;
};

void add_pieces(std::vector<Piece>& pieces, const Span& span) {
  const auto& buffer = *span.buffer;
  const auto nest = loop_nest(buffer.shape, storage_order(buffer.shape));
  const int inner = nest.depth - 1;
  const bool whole = inner >= 0 && inner != nest.indexed && nest.strides[inner] == 1;
  const int loops = whole ? inner : nest.depth;
  const auto bytes = (whole ? nest.extents[inner] : 1) * buffer.scalar.size;
  std::int64_t count = 1;
  for (int d = 0; d < loops; ++d) count *= nest.extents[d];
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t element = 0;
    std::int64_t rest = i;
    for (int d = loops - 1; d >= 0; --d) {
      const auto step = rest % nest.extents[d];
      element += (d == nest.indexed ? buffer.rows.indices[step] : step) * nest.strides[d];
      rest /= nest.extents[d];
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data) +
                       static_cast<std::uintptr_t>(element * buffer.scalar.size);
    if (!pieces.empty() && pieces.back().span == &span && pieces.back().end == begin)
      pieces.back().end += static_cast<std::uintptr_t>(bytes);
    else
      pieces.push_back({begin, begin + static_cast<std::uintptr_t>(bytes), &span});
  }
}

/// Two of those that are in pieces and share a byte, one of which receives.
std::optional<std::pair<const Span*, const Span*>> shared_piece(const std::vector<Span>& spans) {
  std::vector<Piece> pieces;
  for (const auto& span : spans)
    if (span.in_pieces) add_pieces(pieces, span);
  std::ranges::sort(pieces, {}, &Piece::begin);
  const Piece* received = nullptr; // of those so far the one that ends last
  const Piece* sent = nullptr;
  for (const auto& piece : pieces) {
    if (received && piece.begin < received->end) return std::pair(received->span, piece.span);
    if (piece.span->receives && sent && piece.begin < sent->end) return std::pair(piece.span, sent->span);
    auto& last = piece.span->receives ? received : sent;
    if (!last || piece.end > last->end) last = &piece;
  }
  return std::nullopt;
}

std::string words(const Buffer& buffer) {
  return fmt::format(
      "View '{}', {} {}{}", buffer.label, extents_to_string(buffer.shape), to_string(buffer.scalar),
      buffer.shape.by_index ? fmt::format(", rows by index list '{}'", buffer.rows.label) : "");
}

std::string words(const Span& span) {
  return fmt::format("{}, {} rank {}", words(*span.buffer), span.receives ? "receives from" : "is sent to",
                     span.peer);
}

} // namespace

std::optional<std::string> overlap_problem(std::span<const Slot> slots) {
  std::vector<Span> spans;
  for (const auto& slot : slots) {
    add(spans, slot.receive, slot.source, true);
    add(spans, slot.send, slot.destination, false);
  }
  std::ranges::stable_sort(spans, {}, &Span::begin);
  const auto problem = [](const Span& receives, const Span& other) {
    if (&receives == &other)
      return fmt::format("{}: {}", words(receives), overlap_words(receives.buffer->shape));
    return fmt::format("{}, and {}: they share cells", words(receives), words(other));
  };
  bool in_pieces = false;
  for (auto& span : spans) {
    if (!span.receives || !overlaps_itself(span.buffer->shape)) continue;
    if (!span.buffer->shape.by_index) return problem(span, span);
    in_pieces = span.in_pieces = true;
  }
  for (auto a = spans.begin(); a != spans.end(); ++a) {
    for (auto b = a + 1; b != spans.end() && b->begin < a->end; ++b) {
      if (!a->receives && !b->receives) continue;
      if (a->buffer->shape.by_index || b->buffer->shape.by_index)
        in_pieces = a->in_pieces = b->in_pieces = true;
      else if (share_memory(*a->buffer, *b->buffer))
        return problem(a->receives ? *a : *b, a->receives ? *b : *a);
    }
  }
  if (!in_pieces) return std::nullopt;
  const auto found = shared_piece(spans);
  return found ? std::optional(problem(*found->first, *found->second)) : std::nullopt;
}

} // namespace kontor::comm
