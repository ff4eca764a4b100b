// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"
#include "grid/size_options.hpp"
#include "stepping/launch.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <vector>

namespace kontor::stencil {

/// The keys of a deck that all stencil apps have: problem.cells, problem.local, problem.memory_share, solver.steps,
/// solver.launch and decomposition.process_grid. The options of an app derive from it.
struct Options {
  std::vector<std::int64_t> cells;        ///< along x, y[, z]; as many numbers as the default has
  std::int64_t steps = 100;               ///< of a repeat
  std::vector<std::int64_t> process_grid; ///< ranks along x, y[, z]
  grid::SizeOptions sizing;               ///< of the cells
  config::Chosen<stepping::Launch> launch = stepping::Launch::automatic;

  explicit Options(std::vector<std::int64_t> default_cells) : cells(std::move(default_cells)) {}

  ///@{
  /// In the section "problem", in the section "solver", and the section "decomposition".
  void describe_cells(config::Visitor&);
  void describe_steps(config::Visitor&);
  void describe_decomposition(config::Visitor&);
  ///@}

  /// Collective. The cells of all ranks, where the deck gives those of one or a share of memory.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. The process grid. Throws config::Error, on all ranks, if the cells are fewer than the ranks.
  void resolve_process_grid(const config::Deck&, int ranks);
};

/// Local. The Views of a rank that has this block.
double bytes_of_rank(const grid::Block&);

} // namespace kontor::stencil
