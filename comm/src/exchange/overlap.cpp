// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two strided arrays share a byte if the distance of their beginnings is a sum of steps k * s, where s is a
// stride of one of them (or one byte within an element) and k is bounded by an extent. The sum is searched
// for from the largest stride to the smallest; what is left over must stay within reach of those that remain.
// For parts of an array, where each stride exceeds the reach of all smaller ones, few k are possible each
// time. The general problem is NP-complete, so the search has an end.
//
// Rows by index have no strides. They, and what lies among them, are taken apart into pieces of consecutive
// bytes, which are sorted.
#include "overlap.hpp"

#include "rows.hpp"

#include <kontor/comm/backend/layout.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kontor::comm {
namespace {

/// Steps of so many bytes: at least `low` and at most `high` of them.
struct Steps {
  std::int64_t stride;
  std::int64_t low;
  std::int64_t high;
};

/// The distances between an element of one array and an element of the other.
class Distances {
 public:
  Distances(const Buffer& from, const Buffer& to) {
    add(to, 1);
    add(from, -1);
    all_.push_back({1, -(std::int64_t{from.scalar.size} - 1), std::int64_t{to.scalar.size} - 1});
    std::ranges::sort(all_, std::ranges::greater(), &Steps::stride);
    reach_.resize(all_.size() + 1);
    for (auto i = all_.size(); i-- > 0;) {
      const auto& [stride, low, high] = all_[i];
      reach_[i] = {reach_[i + 1].low + low * stride, reach_[i + 1].high + high * stride};
    }
  }

  bool has(std::int64_t distance) { return has(distance, 0); }

 private:
  struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;
  };

  void add(const Buffer& buffer, int sign) {
    const auto& shape = buffer.shape;
    for (int d = 0; d < shape.rank; ++d) {
      const auto most = sign * (shape.extents[d] - 1);
      const auto stride = shape.strides[d] * buffer.scalar.size;
      if (most == 0 || stride == 0) continue;
      const auto known = std::ranges::find(all_, stride, &Steps::stride);
      auto& steps = known != all_.end() ? *known : all_.emplace_back(Steps{stride, 0, 0});
      (sign > 0 ? steps.high : steps.low) += most;
    }
  }

  bool has(std::int64_t distance, std::size_t i) {
    if (distance < reach_[i].low || distance > reach_[i].high) return false;
    if (i == all_.size()) return true;
    const auto& [stride, low, high] = all_[i];
    const auto down = [by = stride](std::int64_t n) { return n >= 0 ? n / by : -((-n + by - 1) / by); };
    const auto first = std::max(low, -down(reach_[i + 1].high - distance));
    const auto last = std::min(high, down(distance - reach_[i + 1].low));
    for (auto k = last; k >= first; --k) {
      if (--turns_ < 0) return false;
      if (has(distance - k * stride, i + 1)) return true;
    }
    return false;
  }

  std::vector<Steps> all_;
  std::vector<Range> reach_; ///< of the steps from the i-th on
  int turns_ = 100000;       ///< far more than parts of arrays need
};

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

bool share_memory(const Buffer& a, const Buffer& b) {
  if (element_count(a.shape) == 0 || element_count(b.shape) == 0) return false;
  const auto distance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.data) -
                                                  reinterpret_cast<std::uintptr_t>(b.data));
  return Distances(a, b).has(distance);
}

/// Strides that each exceed the reach of the smaller ones keep elements apart. Where others do not, elements
/// whose index in one dimension differs are an array of index 0 there and one of the rest.
bool overlaps_itself(const Shape& shape) {
  if (element_count(shape) < 2) return false;
  const auto order = storage_order(shape);
  std::int64_t reach = 0;
  bool apart = true;
  for (int i = shape.rank; i-- > 0;) {
    const auto extent = shape.extents[order.dims[i]], stride = shape.strides[order.dims[i]];
    if (extent == 1) continue;
    apart = apart && stride > reach;
    reach += (extent - 1) * stride;
  }
  if (apart) return false;
  for (int d = 0; d < shape.rank; ++d) {
    if (shape.extents[d] == 1) continue;
    Buffer first{.scalar = {}, .shape = shape, .label = {}}, rest = first;
    first.shape.extents[d] = 1;
    --rest.shape.extents[d];
    if (Distances(first, rest).has(-shape.strides[d])) return true;
  }
  return false;
}

std::string overlap_words(const Shape& shape) {
  return fmt::format("some of its elements share memory (strides {})",
                     fmt::join(std::span(shape.strides).first(static_cast<std::size_t>(shape.rank)), ", "));
}

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

void check_use(const std::string& label, std::span<const Slot> slots, const Buffer& view, bool receives) {
  std::string known;
  for (const auto& slot : slots) {
    const auto& buffer = receives ? slot.receive : slot.send;
    if ((receives ? slot.source : slot.destination) == no_rank) continue;
    if (share_memory(whole_array(buffer), view)) return;
    known += fmt::format("{}{} at {}", known.empty() ? "" : "; ", words(buffer), buffer.data);
  }
  throw CallError(fmt::format(
      "exchange '{}': no slot {} {} at {}; a plan keeps the Views that were added, whatever becomes of the "
      "variables: was it swapped, resized or assigned since? Those are: {}",
      label, receives ? "receives into" : "sends from", words(view), view.data,
      known.empty() ? "none" : known));
}

} // namespace kontor::comm
