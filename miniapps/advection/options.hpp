// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"
#include "grid/sizing.hpp"
#include "machine/memory.hpp"
#include "run/options.hpp"
#include "stepping/launch.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/expression.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <vector>

namespace kontor::advection {

enum class Kernel { plain };

/// The keys of a deck that are advection's own.
struct Options {
  std::int64_t cells = 1000;
  grid::SizeOptions sizing;           ///< of the cells
  std::vector<double> interval{0, 1}; ///< its ends
  double speed = 1;
  double courant = 1; ///< cells that a wave goes in a step
  config::Expression initial{"exp(-100*(x-0.5)^2)"};
  std::int64_t steps = 750;
  Kernel kernel = Kernel::plain;
  std::int64_t steps_per_pass = 1; ///< by one exchange
  std::int64_t probes = 0;         ///< of each rank
  std::int64_t probe_every = 100;
  std::int64_t seed = 1;
  config::Chosen<stepping::Launch> launch = stepping::Launch::automatic;

  void describe(config::Visitor&);
  /// Collective. The cells of all ranks, where the deck gives those of one or a share of memory.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Refuses what cannot run on so many ranks.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});

  /// Of a cell.
  double width() const { return (interval[1] - interval[0]) / static_cast<double>(cells); }
  /// Towards which neighbour the wave goes: 1 or -1.
  int direction() const { return speed > 0 ? 1 : -1; }
  double time_step() const { return courant * width() / (speed * direction()); }
  /// How often probes are gathered in a run.
  std::int64_t samples() const { return probes > 0 ? steps / probe_every : 0; }
};

/// Local. The Views of a rank that has this block.
std::vector<miniapp::Allocation> views_of_rank(const Options&, const grid::Block&);

} // namespace kontor::advection
