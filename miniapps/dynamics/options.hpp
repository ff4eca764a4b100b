// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/kernels/assemble.hpp"
#include "dynamics/kernels/stress.hpp"
#include "grid/sizing.hpp"
#include "run/options.hpp"
#include "run/record/precision.hpp"
#include "stepping/graph_choice.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/expression.hpp>
#include <kontor/config/input_file.hpp>
#include <kontor/config/visitor.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace kontor::dynamics {

enum class NumberingKind { natural, random };

/// How the sums at nodes of several ranks are made. `recompute`: each rank also computes the elements of other ranks
/// that its nodes have, and displacements and velocities travel; same bits on any ranks. `sum`: each element is
/// computed once, and partial forces travel and are added, in the order of ranks.
enum class Seam { recompute, sum };

enum class PartitionMethod { grid, bisection, metis };

using Formulas = std::array<config::Expression, 3>; ///< of the three axes

/// The keys of a deck that are dynamics' own.
struct Options {
  std::vector<std::int64_t> elements{40, 8, 8}; ///< x, y, z
  grid::SizeOptions sizing;                     ///< of the elements
  std::vector<double> size{5, 1, 1};            ///< of the box
  Formulas map{"x", "y", "z"};
  NumberingKind numbering = NumberingKind::natural;
  std::int64_t seed = 1;
  config::InputFile mesh; ///< instead of a box
  miniapp::Precision precision = miniapp::Precision::double_precision;
  config::Expression young{"1"}, poisson{"0"}, density{"1"};
  Formulas velocity{"x < 1e-9 ? 0.001 : 0", "0", "0"};
  std::vector<int> held{1}; ///< faces: x_min, x_max, y_min, ...

  Seam seam = Seam::recompute;
  Assembly assembly = Assembly::gather;
  Hourglass hourglass{0.05, 0};
  config::Chosen<stepping::Graphs> graph = stepping::Graphs::automatic;

  std::int64_t steps = 1000;
  double safety = 0.9;
  std::optional<double> step; ///< none: the least stable one
  std::int64_t every = 1;     ///< steps between minima

  PartitionMethod partition = PartitionMethod::grid;
  std::vector<std::int64_t> process_grid; ///< x, y, z

  void describe(config::Visitor&);
  /// Collective. The elements of all ranks, where the deck gives those of one or a share of memory.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Rejects what cannot run on so many ranks.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});

  bool box() const { return mesh.path.empty(); }
  bool mapped() const { return map[0].text() != "x" || map[1].text() != "y" || map[2].text() != "z"; }
  /// Bytes of the Views of so many elements and nodes.
  double bytes(double element_count, double node_count) const;
};

} // namespace kontor::dynamics
