// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two strided arrays share a byte if the distance of their beginnings is a sum of steps k * s, where s is a
// stride of one of them (or one byte within an element) and k is bounded by an extent. The sum is searched
// for from the largest stride to the smallest; what is left over must stay within reach of those that remain.
// For parts of an array, where each stride exceeds the reach of all smaller ones, few k are possible each
// time. The general problem is NP-complete, so the search has an end.
#include "overlap.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

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
    const auto down = [&](std::int64_t n) { return n >= 0 ? n / stride : -((-n + stride - 1) / stride); };
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
};

void add(std::vector<Span>& spans, const Buffer& buffer, int peer, bool receives) {
  if (peer == no_rank || element_count(buffer.shape) == 0 || !buffer.data) return;
  std::int64_t last = 0;
  for (int d = 0; d < buffer.shape.rank; ++d) last += (buffer.shape.extents[d] - 1) * buffer.shape.strides[d];
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data);
  spans.push_back(
      {&buffer, peer, receives, begin, begin + static_cast<std::uintptr_t>(last + 1) * buffer.scalar.size});
}

std::string words(const Buffer& buffer) {
  return fmt::format("View '{}', {} {}", buffer.label, extents_to_string(buffer.shape),
                     to_string(buffer.scalar));
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

std::optional<std::string> overlap_problem(std::span<const Slot> slots) {
  std::vector<Span> spans;
  for (const auto& slot : slots) {
    add(spans, slot.receive, slot.source, true);
    add(spans, slot.send, slot.destination, false);
  }
  std::ranges::stable_sort(spans, {}, &Span::begin);
  for (auto a = spans.begin(); a != spans.end(); ++a)
    for (auto b = a + 1; b != spans.end() && b->begin < a->end; ++b)
      if ((a->receives || b->receives) && share_memory(*a->buffer, *b->buffer))
        return fmt::format("{}, and {}: they share cells", words(a->receives ? *a : *b),
                           words(a->receives ? *b : *a));
  return std::nullopt;
}

void check_use(const std::string& label, std::span<const Slot> slots, const Buffer& view, bool receives) {
  std::string known;
  for (const auto& slot : slots) {
    const auto& buffer = receives ? slot.receive : slot.send;
    if ((receives ? slot.source : slot.destination) == no_rank) continue;
    if (share_memory(buffer, view)) return;
    known += fmt::format("{}{} at {}", known.empty() ? "" : "; ", words(buffer), buffer.data);
  }
  throw CallError(fmt::format(
      "exchange '{}': no slot {} {} at {}; a plan keeps the Views that were added, whatever becomes of the "
      "variables: was it swapped, resized or assigned since? Those are: {}",
      label, receives ? "receives into" : "sends from", words(view), view.data,
      known.empty() ? "none" : known));
}

} // namespace kontor::comm
