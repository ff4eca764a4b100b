// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/algorithm/search.hpp"

#include <kontor/comm/collectives.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace kontor::graph {
namespace {

/// Such that blocks of words of all ranks are equally long.
std::int64_t words_of_block(const Rows& rows) { return (rows.blocks.block + 63) / 64; }

} // namespace

void Bits::sort(std::vector<std::int64_t>& places) const {
  if (4 * places.size() < words_.size()) {
    std::ranges::sort(places);
    return;
  }
  for (const auto i : places) set(i);
  places.clear();
  for (std::size_t w = 0; w < words_.size(); ++w) {
    for (auto left = words_(w); left != 0; left &= left - 1)
      places.push_back(static_cast<std::int64_t>(64 * w) + std::countr_zero(left));
    words_(w) = 0;
  }
}

Search::Search(const comm::Communicator& comm, const Options& o, const Rows& rows, miniapp::Timers& timers)
    : comm_(comm.share()), rows_(rows), direction_(o.direction), unique_(o.unique),
      all_arcs_(comm::allreduce(comm, rows.arcs(), comm::ReduceOp::sum)), sent_(unique_ ? rows.blocks.vertices : 0),
      reached_(rows.size), own_(direction_ == Direction::optimising ? 64 * words_of_block(rows) : 0),
      whole_(direction_ == Direction::optimising ? 64 * words_of_block(rows) * comm.size() : 0), buckets_(comm.size()),
      expand_(timers["expand"]), deliver_(timers.communication("deliver")), reduce_(timers.communication("reduce")),
      gather_(timers.communication("gather")) {}

void Search::run(std::int64_t root, const Tree& tree, Traffic<Reached>& traffic) {
  levels_.clear();
  frontier_.clear();
  next_.clear();
  sent_.clear();
  left_ = all_arcs_;
  depth_ = 0;
  if (rows_.blocks.owner(root) == rows_.rank) take(tree, root, root);
  for (Level level;; level.bottom_up = levels_.back().bottom_up) {
    frontier_.swap(next_);
    next_.clear();
    reached_.sort(frontier_);
    std::array<std::int64_t, 2> sums{static_cast<std::int64_t>(frontier_.size()), 0};
    for (const auto v : frontier_) sums[1] += rows_.degree(v);
    {
      const miniapp::ScopedTimer timed(reduce_);
      sums = comm::allreduce(comm_, sums, comm::ReduceOp::sum);
    }
    if (sums[0] == 0) return;
    level.frontier = sums[0];
    left_ -= sums[1];
    level.bottom_up = goes_up(level, sums[1]);
    levels_.push_back(level);
    ++depth_;
    const auto before = traffic.sent();
    level.bottom_up ? expand_up(tree) : expand_down(tree, traffic);
    levels_.back().sent = {traffic.sent().messages - before.messages, traffic.sent().bytes - before.bytes};
  }
}

/// The rule of S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC12; `level` has the
/// direction of the one before.
bool Search::goes_up(const Level& level, std::int64_t arcs) const {
  constexpr std::int64_t alpha = 14, beta = 24;
  if (direction_ == Direction::top_down) return false;
  return level.bottom_up ? level.frontier >= rows_.blocks.vertices / beta : arcs > left_ / alpha;
}

/// The least parent of the level that the vertex is reached in.
void Search::take(const Tree& tree, std::int64_t vertex, std::int64_t parent) {
  const auto v = vertex - rows_.begin;
  if (tree.level(v) == unreached) {
    tree.level(v) = depth_;
    tree.parent(v) = parent;
    next_.push_back(v);
  } else if (tree.level(v) == depth_ && parent < tree.parent(v)) {
    tree.parent(v) = parent;
  }
}

/// As the frontier ascends, the first parent that reaches a vertex of another rank is the least of this rank.
void Search::expand_down(const Tree& tree, Traffic<Reached>& traffic) {
  {
    const miniapp::ScopedTimer timed(expand_);
    buckets_.clear();
    for (const auto u : frontier_) {
      const auto parent = rows_.begin + u;
      levels_.back().edges += rows_.degree(u);
      for (auto i = rows_.offsets(u); i < rows_.offsets(u + 1); ++i) {
        const auto vertex = rows_.targets(i);
        if (vertex >= rows_.begin && vertex < rows_.begin + rows_.size) {
          take(tree, vertex, parent);
          continue;
        }
        if (unique_) {
          if (sent_.at(vertex)) continue;
          sent_.set(vertex);
        }
        buckets_[rows_.blocks.owner(vertex)].push_back({vertex, parent});
      }
    }
  }
  const miniapp::ScopedTimer timed(deliver_);
  traffic.deliver(buckets_, [&](std::span<const Reached> arrived) {
    for (const auto& [vertex, parent] : arrived) take(tree, vertex, parent);
  });
}

/// As neighbours ascend, the first one in the frontier is the least parent.
void Search::expand_up(const Tree& tree) {
  {
    const miniapp::ScopedTimer timed(gather_);
    own_.clear();
    for (const auto v : frontier_) own_.set(v);
    comm::allgather(comm_, own_.words(), whole_.words());
  }
  const miniapp::ScopedTimer timed(expand_);
  const auto bits = 64 * words_of_block(rows_);
  for (std::int64_t v = 0; v < rows_.size; ++v) {
    if (tree.level(v) != unreached) continue;
    for (auto i = rows_.offsets(v); i < rows_.offsets(v + 1); ++i) {
      const auto u = rows_.targets(i);
      const auto owner = rows_.blocks.owner(u);
      ++levels_.back().edges;
      if (!whole_.at(owner * bits + u - rows_.blocks.begin(owner))) continue;
      take(tree, rows_.begin + v, u);
      break;
    }
  }
}

} // namespace kontor::graph
