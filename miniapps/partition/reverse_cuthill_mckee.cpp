// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/reverse_cuthill_mckee.hpp"

#include <algorithm>

namespace kontor::partition {
namespace {

// Boost.Graph looks at all rows twice for each connected part, and Kokkos Kernels begins at a row of the smallest
// degree, which need not be at an end.
class CuthillMcKee {
 public:
  explicit CuthillMcKee(const Graph<std::int64_t>& graph)
      : graph_(graph), order_(static_cast<std::size_t>(graph.rows())), seen_(order_.size(), 0) {}

  std::vector<std::int64_t> operator()() && {
    std::size_t done = 0;
    for (std::int64_t row = 0; row < graph_.rows(); ++row)
      if (seen_[at(row)] == 0) done = add_part(row, done);
    std::reverse(order_.begin(), order_.end());
    return std::move(order_);
  }

 private:
  /// What a search reaches, level by level, from order_[begin] on.
  struct Levels {
    std::size_t count = 0;
    std::size_t last = 0; ///< where the last level begins in order_
    std::size_t end = 0;
  };

  static std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }

  bool before(std::int64_t a, std::int64_t b) const {
    const auto da = graph_.degree(a), db = graph_.degree(b);
    return da != db ? da < db : a < b;
  }

  /// The part of a row; begins at one from which its farthest rows are as far as from those.
  std::size_t add_part(std::int64_t row, std::size_t begin) {
    auto levels = search(row, begin);
    while (true) {
      const auto* const first = order_.data();
      const auto far =
          *std::min_element(first + levels.last, first + levels.end, [this](auto a, auto b) { return before(a, b); });
      const auto from_there = search(far, begin);
      if (from_there.count <= levels.count) return from_there.end;
      levels = from_there;
    }
  }

  Levels search(std::int64_t start, std::size_t begin) {
    ++stamp_;
    order_[begin] = start;
    seen_[at(start)] = stamp_;
    Levels levels{.count = 1, .last = begin, .end = begin + 1};
    while (true) {
      const auto level_end = levels.end;
      for (auto i = levels.last; i < level_end; ++i) add_neighbours(order_[i], levels.end);
      if (levels.end == level_end) return levels;
      ++levels.count;
      levels.last = level_end;
    }
  }

  /// Those that are not yet reached, by degree.
  void add_neighbours(std::int64_t row, std::size_t& end) {
    const auto begin = end;
    for (auto n = graph_.offsets[at(row)]; n < graph_.offsets[at(row) + 1]; ++n) {
      const auto neighbour = graph_.neighbours[at(n)];
      if (seen_[at(neighbour)] == stamp_) continue;
      seen_[at(neighbour)] = stamp_;
      order_[end++] = neighbour;
    }
    auto* const first = order_.data();
    std::sort(first + begin, first + end, [this](auto a, auto b) { return before(a, b); });
  }

  const Graph<std::int64_t>& graph_;
  std::vector<std::int64_t> order_;
  std::vector<std::int64_t> seen_; ///< the last search that has reached each row; 0: none
  std::int64_t stamp_ = 0;
};

} // namespace

std::vector<std::int64_t> reverse_cuthill_mckee(const Graph<std::int64_t>& graph) { return CuthillMcKee(graph)(); }

std::int64_t bandwidth(const CoordinateMatrix& matrix, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    position[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  std::int64_t most = 0;
  for (const auto& entry : matrix.entries)
    most = std::max(most, std::abs(position[static_cast<std::size_t>(entry.row)] -
                                   position[static_cast<std::size_t>(entry.column)]));
  return most;
}

} // namespace kontor::partition
