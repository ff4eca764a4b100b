// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kontor::graph {

/// What is to go to each rank. Keeps its memory.
template <class T>
class Buckets {
 public:
  using Row = Kokkos::View<T*, Kokkos::HostSpace>;

  explicit Buckets(int ranks) : buckets_(static_cast<std::size_t>(ranks)) {}

  std::vector<T>& operator[](int rank) { return buckets_[static_cast<std::size_t>(rank)]; }
  int ranks() const { return static_cast<int>(buckets_.size()); }
  void clear() {
    for (auto& bucket : buckets_) bucket.clear();
  }
  std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> counts;
    for (const auto& bucket : buckets_) counts.push_back(static_cast<std::int64_t>(bucket.size()));
    return counts;
  }
  /// All of them, one after the other; until the next call.
  Row joined() {
    std::size_t total = 0, place = 0;
    for (const auto& bucket : buckets_) total += bucket.size();
    if (memory_.size() < total) memory_ = Row(Kokkos::view_alloc("graph/sent", Kokkos::WithoutInitializing), total);
    for (const auto& bucket : buckets_) {
      std::copy(bucket.begin(), bucket.end(), memory_.data() + place);
      place += bucket.size();
    }
    return Kokkos::subview(memory_, std::pair(std::size_t{0}, total));
  }

 private:
  std::vector<std::vector<T>> buckets_;
  Row memory_;
};

} // namespace kontor::graph
