// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/size_options.hpp"
#include "run/options.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kontor::graph {

/// Where edges come from.
enum class Kind { uniform, geometric, kronecker, file };

/// What is done.
enum class Algorithm {
  search,    ///< breadth-first search from several roots
  particles, ///< particles move on a torus and change their owner
  sort       ///< keys are sorted by samples
};

/// How a level of a search looks for the next one.
enum class Direction {
  top_down,  ///< from the frontier to its neighbours
  optimising ///< also from vertices that are not reached to the frontier, where it is large
};

/// How what belongs to other ranks reaches them.
enum class Method {
  counted,      ///< MPI_Alltoall of counts, then MPI_Alltoallv
  neighborhood, ///< the same among neighbours, on a graph communicator
  sparse,       ///< non-blocking consensus (NBX)
  grid,         ///< two hops along rows and columns of ranks
  pairs,        ///< MPI_Alltoall of counts, then a message for each pair that has data
  automatic     ///< the fastest, by trial
};

/// The keys of a deck that are graph's own.
struct Options {
  Algorithm algorithm = Algorithm::search;
  Kind graph = Kind::uniform;
  std::int64_t vertices = 4096;
  std::int64_t degree = 16; ///< of a vertex, on average: edges are half of it times the vertices
  config::InputFile file;
  std::int64_t particles = 100000;
  double speed = 0.01; ///< the most that a particle moves along an axis in a step, of the torus
  std::int64_t keys = 1000000;
  grid::SizeOptions sizing;
  std::int64_t seed = 1;
  std::int64_t roots = 16;
  Direction direction = Direction::top_down;
  std::int64_t steps = 100;
  config::Chosen<Method> method = Method::counted;
  bool unique = true; ///< a rank sends a vertex once in a search

  void describe(config::Visitor&);
  /// Collective. Sizes of all ranks, where the deck gives those of one or a share of memory.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Rejects what cannot run.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});

  std::int64_t edges() const { return vertices * degree / 2; }
  /// Of the rank that takes most.
  double bytes_of_rank(int ranks) const;
};

std::string_view name_of(Kind);
std::string_view name_of(Method);

} // namespace kontor::graph
