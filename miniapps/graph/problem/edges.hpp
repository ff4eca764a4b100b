// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"
#include "grid/axis_parts.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace kontor::graph {

/// An edge without a direction. Loops and double edges may be among those of a graph.
struct Edge {
  std::int64_t from, to;
};

/// The edges of a deck's graph, which are functions of their number, so the same for any number of ranks. Each rank has
/// a part of them, as they are made, not as vertices are owned.
class Edges {
 public:
  /// Collective. Reads the file if there is one; throws config::Error on all ranks.
  Edges(const Options&, const comm::Communicator&);

  std::int64_t vertices() const { return vertices_; }
  /// What edges are made by, of this rank: edges, or vertices of a geometric graph.
  std::int64_t items() const { return own_.size(); }
  /// Local. The edges that the items [first, last) of this rank make.
  std::vector<Edge> of(std::int64_t first, std::int64_t last) const;

 private:
  void read(const Options&, const comm::Communicator&);

  Kind kind_;
  std::uint64_t seed_;
  std::int64_t vertices_;
  double degree_;
  grid::AxisRange own_;         ///< items of this rank
  std::vector<Edge> from_file_; ///< of this rank
};

} // namespace kontor::graph
