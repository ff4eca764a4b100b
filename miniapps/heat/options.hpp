// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/faces.hpp"
#include "grid/size_options.hpp"
#include "run/options.hpp"
#include "run/record/precision.hpp"
#include "stepping/launch.hpp"
#include "stepping/norm.hpp"
#include "stepping/sum_kind.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace kontor::heat {

enum class Equation { steady, transient };
enum class Condition { dirichlet, neumann, periodic };
enum class Stores { automatic, streaming, ordinary };
enum class SweepKernel { tuned, plain };

using miniapp::Precision;
using stepping::Launch;
using stepping::Norm;
using stepping::SumKind;

/// On one face of the domain: u = value, du/dn = value (outward), or none (periodic).
using Face = grid::Face<Condition>;

/// The sections problem, solver, time, decomposition and verification of a heat deck.
struct Options {
  Equation equation = Equation::steady;
  std::vector<std::int64_t> cells{64, 64}; ///< x, y[, z]
  grid::SizeOptions sizing;                ///< of the cells
  std::vector<double> lower;               ///< corner of the domain; empty: the origin
  std::vector<double> upper;               ///< empty: ones
  Precision precision = Precision::double_precision;
  double diffusivity = 1;
  config::Expression initial{"0"};
  config::Expression source{"0"};
  std::optional<config::Expression> exact;
  grid::Faces<Condition> faces;

  /// Steady: stop when the update norm is below it; 0: make max_sweeps sweeps; none: by the precision, until resolved.
  std::optional<double> tolerance;
  std::int64_t max_sweeps = 1000000;
  std::int64_t check_every = 100;
  Norm norm = Norm::max;             ///< of the update; not none
  SumKind sums = SumKind::any_order; ///< of norm l2
  SweepKernel kernel = SweepKernel::tuned;
  Stores stores = Stores::automatic;
  config::Chosen<Launch> launch = Launch::automatic;
  std::optional<std::int64_t> steps_per_pass = 1; ///< none: by a trial, which make_heat() makes

  double end_time = 0.1;
  std::optional<double> time_step; ///< none: the largest stable one that divides end_time, with a margin

  std::vector<std::int64_t> process_grid; ///< x, y[, z]; empty: the smallest surface
  std::int64_t warm_up_sweeps = 10;
  std::optional<double> verification_tolerance;

  int dimensions() const { return static_cast<int>(cells.size()); }
  double spacing(int axis) const { return (upper[axis] - lower[axis]) / static_cast<double>(cells[axis]); }

  int sweeps_of_pass() const { return static_cast<int>(steps_per_pass.value_or(1)); }

  void describe(config::Visitor&);

  /// Collective. The cells of the whole box, where the deck gives those of a rank or a share of memory.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);

  /// Fills in what depends on other keys, and refuses what cannot run, by deck.fail().
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});

  /// Steps of equal length that reach the end time: as few as stability or the deck's step allow.
  double step_count() const;

  /// The largest stable step of explicit Euler: 1 / (2 alpha sum over axes of 1/h^2).
  double stable_step() const;
};

/// Local. Why so many sweeps a pass are not possible with the rest of the options, which are resolved.
std::optional<std::string> pass_refusal(const Options&, std::int64_t steps_per_pass);

/// Local. Bytes of the Views of a rank that has this block.
double bytes_of_rank(const Options&, const grid::Block&);

} // namespace kontor::heat
