// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace kontor::comm {

/// How many elements of a View belong to each rank, one after the other in the order of ranks. Made of a
/// list, or of anything that has integers in one piece: a std::vector, a std::array, a host View of rank 1.
class Counts {
 public:
  Counts() = default;
  /// {3, 0, 5}
  Counts(std::initializer_list<std::int64_t> counts) : counts_(counts) {}

  /// From whatever has data() and size().
  template <class Integers>
  requires requires(const Integers& integers) {
    { *integers.data() } -> std::convertible_to<std::int64_t>;
    { integers.size() } -> std::convertible_to<std::size_t>;
  }
  Counts(const Integers& integers) : counts_(integers.data(), integers.data() + integers.size()) {}

  /// For how many ranks there are counts.
  std::size_t size() const { return counts_.size(); }
  /// 0 for ranks beyond the last.
  std::int64_t operator[](std::size_t rank) const { return rank < size() ? counts_[rank] : 0; }
  /// The elements of all ranks together.
  std::int64_t total() const { return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}); }
  /// One for each rank.
  const std::vector<std::int64_t>& values() const { return counts_; }
  /// Where each rank's elements begin, and at the end the total.
  std::vector<std::int64_t> offsets() const {
    std::vector<std::int64_t> offsets(size() + 1, 0);
    std::inclusive_scan(counts_.begin(), counts_.end(), offsets.begin() + 1);
    return offsets;
  }

 private:
  std::vector<std::int64_t> counts_;
};

} // namespace kontor::comm
