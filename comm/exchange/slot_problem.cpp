// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows by index have no strides. They, and what lies among them, become ranges of consecutive bytes, which are sorted.
#include "exchange/slot_problem.hpp"

#include "views/overlap.hpp"

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/rows.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace kontor::comm {
namespace {

/// "slot 2", or "message 1 to rank 3"
std::string place(const SlotEnd& end) {
  if (!end.by_pair) return fmt::format("slot {}", end.number);
  return fmt::format("message {} {} rank {}", end.number + 1, end.receives ? "from" : "to", end.peer);
}

std::string words(const SlotEnd& end) {
  const auto& buffer = *end.buffer;
  return fmt::format("{}, {}{}, {} rank {}", place(end), detail::to_string(buffer),
                     buffer.shape.by_index ? fmt::format(", rows by index list '{}'", buffer.rows.label) : "",
                     end.receives ? "receives from" : "is sent to", end.peer);
}

/// What is wrong with one end: a peer that is no rank, or rows that are not there.
std::optional<std::string> end_problem(const Communicator& comm, const std::string& label, const SlotEnd& end) {
  if (end.peer < 0 || end.peer >= comm.size())
    return fmt::format(
        "exchange '{}', {}: rank {} names rank {} as its peer; ranks are 0 to {}, and no_rank says there "
        "is none",
        label, place(end), comm.rank(), end.peer, comm.size() - 1);
  if (const auto what = rows_problem(*end.buffer, end.receives, comm.options().check))
    return fmt::format("exchange '{}', {}: on rank {}, View '{}' {} rank {}: {}", label, place(end), comm.rank(),
                       end.buffer->label, end.receives ? "receives from" : "is sent to", end.peer, *what);
  return std::nullopt;
}

/// A View that travels, and where its bytes lie.
struct Span : SlotEnd {
  /// Its elements belong to no other View; those to which something is added may.
  bool replaces() const { return receives && !adds; }
  std::uintptr_t begin;
  std::uintptr_t end;
  bool in_ranges = false; ///< strides do not say whether it shares bytes with some other
};

void add(std::vector<Span>& spans, const SlotEnd& end) {
  const auto& buffer = *end.buffer;
  if (element_count(buffer.shape) == 0 || !buffer.data) return;
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
    return reinterpret_cast<std::uintptr_t>(buffer.data) + static_cast<std::uintptr_t>(element) * buffer.scalar.size;
  };
  spans.push_back({end, at(first), at(last + 1)});
}

/// Consecutive bytes of a View that travels.
struct ByteRange {
  std::uintptr_t begin;
  std::uintptr_t end;
  const Span* span;
};

void add_ranges(std::vector<ByteRange>& ranges, const Span& span) {
  const auto& buffer = *span.buffer;
  const auto nest = loop_nest(buffer.shape, storage_order(buffer.shape));
  const int inner = nest.depth - 1;
  const bool whole = inner >= 0 && inner != nest.indexed && nest.strides[inner] == 1;
  const int loops = whole ? inner : nest.depth;
  const auto bytes = (whole ? nest.extents[inner] : 1) * buffer.scalar.size;
  const auto count = step_count(nest, loops);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto element = offset_of(nest, loops, i, buffer.rows.indices);
    const auto begin =
        reinterpret_cast<std::uintptr_t>(buffer.data) + static_cast<std::uintptr_t>(element * buffer.scalar.size);
    if (!ranges.empty() && ranges.back().span == &span && ranges.back().end == begin)
      ranges.back().end += static_cast<std::uintptr_t>(bytes);
    else
      ranges.push_back({begin, begin + static_cast<std::uintptr_t>(bytes), &span});
  }
}

/// Two of those that are in ranges and share a byte, one of which receives.
std::optional<std::pair<const Span*, const Span*>> shared_range(const std::vector<Span>& spans) {
  std::vector<ByteRange> ranges;
  for (const auto& span : spans)
    if (span.in_ranges) add_ranges(ranges, span);
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  const ByteRange* received = nullptr; // of those so far the one that ends last
  const ByteRange* sent = nullptr;
  for (const auto& range : ranges) {
    if (received && range.begin < received->end) return std::pair(received->span, range.span);
    if (range.span->replaces() && sent && range.begin < sent->end) return std::pair(range.span, sent->span);
    auto& last = range.span->replaces() ? received : sent;
    if (!last || range.end > last->end) last = &range;
  }
  return std::nullopt;
}

} // namespace

std::vector<SlotEnd> ends_of(std::span<const Slot> slots) {
  std::vector<SlotEnd> ends;
  int slot_count = 0;
  std::map<std::pair<int, bool>, int> pair_counts;
  for (const auto& slot : slots) {
    const bool by_pair = slot.matching == Matching::by_pair;
    const int number = by_pair ? 0 : slot_count++;
    const auto add = [&](const Buffer& buffer, int peer, bool receives) {
      if (peer == no_rank) return;
      ends.push_back({&slot, &buffer, peer, receives, receives && slot.op == ReceiveOp::add, by_pair,
                      by_pair ? pair_counts[{peer, receives}]++ : number});
    };
    add(slot.send, slot.destination, false);
    add(slot.receive, slot.source, true);
  }
  return ends;
}

std::optional<std::string> slot_problem(const Communicator& comm, const std::string& label,
                                        std::span<const Slot> slots) {
  for (const auto& end : ends_of(slots))
    if (auto problem = end_problem(comm, label, end)) return problem;
  if (comm.options().check == CheckLevel::off) return std::nullopt;
  if (const auto what = overlap_problem(slots))
    return fmt::format(
        "exchange '{}': on rank {}, {}, and what receives in a step may not be sent in it, nor receive twice", label,
        comm.rank(), *what);
  return std::nullopt;
}

std::optional<std::string> overlap_problem(std::span<const Slot> slots) {
  std::vector<Span> spans;
  for (const auto& end : ends_of(slots)) add(spans, end);
  std::ranges::stable_sort(spans, {}, &Span::begin);
  const auto problem = [](const Span& receives, const Span& other) {
    if (&receives == &other) return fmt::format("{}: {}", words(receives), overlap_words(receives.buffer->shape));
    const auto first = std::min(receives.begin, other.begin);
    return fmt::format("{}, and {}: they share cells (bytes {} to {} and {} to {}, from the first of both)",
                       words(receives), words(other), receives.begin - first, receives.end - first - 1,
                       other.begin - first, other.end - first - 1);
  };
  bool in_ranges = false;
  for (auto& span : spans) {
    if (!span.receives || !overlaps_itself(span.buffer->shape)) continue;
    if (!span.buffer->shape.by_index) return problem(span, span);
    in_ranges = span.in_ranges = true;
  }
  for (auto a = spans.begin(); a != spans.end(); ++a) {
    for (auto b = a + 1; b != spans.end() && b->begin < a->end; ++b) {
      if (!a->replaces() && !b->replaces()) continue;
      if (a->buffer->shape.by_index || b->buffer->shape.by_index)
        in_ranges = a->in_ranges = b->in_ranges = true;
      else if (share_memory(*a->buffer, *b->buffer))
        return problem(a->replaces() ? *a : *b, a->replaces() ? *b : *a);
    }
  }
  if (!in_ranges) return std::nullopt;
  const auto found = shared_range(spans);
  return found ? std::optional(problem(*found->first, *found->second)) : std::nullopt;
}

} // namespace kontor::comm
