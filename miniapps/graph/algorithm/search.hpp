// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/algorithm/rows.hpp"
#include "graph/algorithm/traffic.hpp"
#include "graph/problem/tree.hpp"
#include "run/record/timers.hpp"

#include <cstdint>
#include <vector>

namespace kontor::graph {

/// A vertex that a rank has reached, for its owner.
struct Reached {
  std::int64_t vertex, parent;
};

/// What a level of a search was.
struct Level {
  std::int64_t frontier = 0; ///< vertices, of all ranks
  std::int64_t edges = 0;    ///< of this rank: looked at
  Sent sent = {};            ///< of this rank
  bool bottom_up = false;
};

/// Bits of vertices.
class Bits {
 public:
  explicit Bits(std::int64_t size) : words_("graph/bits", static_cast<std::size_t>((size + 63) / 64)) {}

  void clear() const { Kokkos::deep_copy(words_, std::uint64_t{0}); }
  bool at(std::int64_t i) const { return (words_(i / 64) >> (i % 64) & 1u) != 0; }
  void set(std::int64_t i) const { words_(i / 64) |= std::uint64_t{1} << (i % 64); }
  const Kokkos::View<std::uint64_t*, Kokkos::HostSpace>& words() const { return words_; }
  /// Sorts different places, by the bits where they are many. All bits are clear, before and afterwards.
  void sort(std::vector<std::int64_t>& places) const;

 private:
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> words_;
};

/// Breadth-first search, level by level. Of the vertices that reach another in a level the least becomes its parent, so
/// a tree is the same for any ranks, methods and directions.
class Search {
 public:
  /// Collective.
  Search(const comm::Communicator&, const Options&, const Rows&, miniapp::Timers&);

  /// Collective. Fills a tree that is clear.
  void run(std::int64_t root, const Tree&, Traffic<Reached>&);
  /// Of the last search.
  const std::vector<Level>& levels() const { return levels_; }

 private:
  bool goes_up(const Level&, std::int64_t arcs) const;
  void expand_down(const Tree&, Traffic<Reached>&);
  void expand_up(const Tree&);
  void take(const Tree&, std::int64_t vertex, std::int64_t parent);

  comm::Communicator comm_;
  const Rows& rows_;
  Direction direction_;
  bool unique_;
  std::int64_t all_arcs_;
  Bits sent_;        ///< vertices that other ranks know to be reached: by number
  Bits reached_;     ///< to sort a frontier
  Bits own_, whole_; ///< the frontier, of this rank and of all, a block of words each
  Buckets<Reached> buckets_;
  std::vector<std::int64_t> frontier_, next_; ///< of this rank's vertices, by their place in its block, ascending
  std::vector<Level> levels_;
  std::int64_t left_ = 0; ///< arcs of all ranks that no frontier had yet
  std::int32_t depth_ = 0;
  miniapp::Timer &expand_, &deliver_, &reduce_, &gather_;
};

} // namespace kontor::graph
