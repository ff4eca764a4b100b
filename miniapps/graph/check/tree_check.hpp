// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/problem/blocks.hpp"
#include "graph/problem/edges.hpp"
#include "graph/problem/tree.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kontor::graph {

/// What is wrong with trees, by Graph500's rules, and what they are.
struct Findings {
  std::int64_t cycles = 0;    ///< the root is not its own parent at level 0, or another vertex is
  std::int64_t levels = 0;    ///< a vertex is not one level below its parent
  std::int64_t edges = 0;     ///< ends differ by more than a level, or only one is reached
  std::int64_t no_edges = 0;  ///< a vertex and its parent are no edge of the graph
  std::int64_t serial = 0;    ///< levels that a serial search does not find
  std::int64_t component = 0; ///< edges of the component, as they are made: double ones and loops count
  std::int64_t reached = 0;   ///< vertices
  std::uint64_t checksum = 0; ///< of vertices, their levels and parents

  Findings& operator+=(const Findings&);
};

/// Verifies trees by edges that are made anew. What another rank knows of a vertex it is asked for.
class TreeCheck {
 public:
  /// Collective.
  TreeCheck(const Options&, const comm::Communicator&);

  /// Collective; of all ranks.
  Findings of(std::int64_t root, const Tree&) const;
  /// Whether a serial search is compared.
  bool serial() const { return !gathered_.empty(); }

 private:
  struct Known {
    std::int64_t parent = unreached;
    std::int64_t level = unreached;
  };
  std::vector<Known> ask(const std::vector<std::int64_t>& vertices, const Tree&) const;
  void check_parents(std::int64_t root, const Tree&, Findings&) const;
  void check_edges(std::int64_t root, const Tree&, Findings&) const;
  void check_serial(std::int64_t root, const Tree&, Findings&) const;

  comm::Communicator comm_;
  Edges edges_;
  Blocks blocks_;
  std::int64_t begin_, size_;
  std::int64_t batches_;
  std::vector<Edge> gathered_; ///< of all ranks, where they are few
};

} // namespace kontor::graph
