// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two strided arrays share a byte if the distance of their beginnings is a sum of steps k * s, where s is a stride of
// one of them (or one byte within an element) and k is bounded by an extent. The sum is searched for from the largest
// stride to the smallest; what is left over must stay within reach of those that remain. For parts of an array, where
// each stride exceeds the reach of all smaller ones, few k are possible each time. The general problem is NP-complete,
// so the search has an end.
#include "views/overlap.hpp"

#include <kontor/comm/views/layout.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

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

} // namespace

bool share_memory(const Buffer& a, const Buffer& b) {
  if (element_count(a.shape) == 0 || element_count(b.shape) == 0) return false;
  const auto distance =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.data) - reinterpret_cast<std::uintptr_t>(b.data));
  return Distances(a, b).has(distance);
}

/// Strides that each exceed the reach of the smaller ones keep elements apart. Where others do not, elements whose
/// index in one dimension differs are an array of index 0 there and one of the rest.
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

} // namespace kontor::comm
