// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/kernels/stress.hpp"
#include "mesh/corner_sums.hpp"
#include "mesh/options.hpp"
#include "run/options.hpp"
#include "run/record/precision.hpp"
#include "stepping/launch.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/expression.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <optional>

namespace kontor::dynamics {

/// The keys of a deck that are dynamics' own.
struct Options {
  mesh::Options mesh;
  miniapp::Precision precision = miniapp::Precision::double_precision;
  config::Expression young{"1"}, poisson{"0"}, density{"1"};
  mesh::Formulas velocity{"x < 1e-9 ? 0.001 : 0", "0", "0"};

  mesh::SharedNodes shared_nodes = mesh::SharedNodes::redundant;
  mesh::Assembly assembly = mesh::Assembly::gather;
  Hourglass hourglass{0.05, 0};
  config::Chosen<stepping::Launch> launch = stepping::Launch::automatic;

  std::int64_t steps = 1000;
  double safety = 0.9;
  std::optional<double> step; ///< none: the least stable one
  std::int64_t every = 1;     ///< steps between minima

  void describe(config::Visitor&);
  /// Collective. The elements of all ranks, where the deck gives those of one or a share of memory.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Rejects what cannot run on so many ranks.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});

  /// Bytes of the Views of so many elements and nodes.
  double bytes(double element_count, double node_count) const;
};

} // namespace kontor::dynamics
