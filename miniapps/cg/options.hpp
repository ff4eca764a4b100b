// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver_options.hpp"
#include "grid/faces.hpp"
#include "grid/size_options.hpp"
#include "partition/row_plan.hpp"
#include "run/options.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/expression.hpp>
#include <kontor/config/visitor.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kontor::cg {

enum class ProblemKind { fe_heat, stencil, matrix_market };
enum class RhsKind { ones, a_times_ones, file };
enum class FaceCondition { insulated, temperature, flux };

/// On the faces of the box: T = value, conductivity dT/dn = value (outward derivative, so the flux into the box), or
/// none: insulated.
using FaceOptions = grid::Faces<FaceCondition>;

/// problem.fe_heat: - div(k grad T) = source on a box.
struct FeHeatOptions {
  std::vector<std::int64_t> elements{50, 50, 50}; ///< x, y, z
  std::vector<double> lower{0, 0, 0};
  std::vector<double> upper{1, 1, 1};
  config::Expression conductivity{"1"};
  config::Expression source{"0"};
  FaceOptions faces;
  std::optional<config::Expression> exact;

  /// Points along x, y and z.
  std::vector<std::int64_t> points() const { return {elements[0] + 1, elements[1] + 1, elements[2] + 1}; }
  /// Width of an element along an axis.
  double spacing(int axis) const { return (upper[axis] - lower[axis]) / static_cast<double>(elements[axis]); }
};

/// problem.stencil.
struct StencilOptions {
  std::vector<std::int64_t> points{64, 64, 64}; ///< x, y, z
  int size = 27;                                ///< 7 or 27 points
  config::Expression exact{"1"};                ///< the known solution
};

/// problem.matrix_market.
struct MatrixMarketOptions {
  config::InputFile file;
  RhsKind rhs = RhsKind::a_times_ones;
  config::InputFile rhs_file;     ///< of rhs: file
  config::InputFile initial_file; ///< guess; none: 0
  config::Chosen<PartitionKind> partition = PartitionKind::rows;
};

/// Local. What a solve is by the deck's words: method, preconditioner, format, sums; an object.
nlohmann::ordered_json words_of(const SolverOptions&);

/// The keys of a deck that are cg's own.
struct Options {

  ProblemKind kind = ProblemKind::stencil;
  grid::SizeOptions sizing; ///< of points or elements
  FeHeatOptions fe_heat;
  StencilOptions stencil;
  MatrixMarketOptions matrix_market;
  config::Expression initial{"0"}; ///< guess, for points of a box
  SolverOptions solver;
  std::vector<std::int64_t> process_grid;       ///< x, y, z; empty: the smallest surface
  std::optional<double> verification_tolerance; ///< of the error beside the known solution; none: estimated

  /// The grid of points of a stencil or of elements.
  grid::UniformGrid points() const;

  void describe(config::Visitor&);
  /// Collective. The points or elements of the whole box, where the deck gives those of a rank or a share of memory.
  /// Those of a file are what they are: resolve() refuses the keys.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Fills in what depends on other keys, and refuses what cannot run on so many ranks.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});
  /// Keys that may be others when a run resumes from a checkpoint.
  static std::vector<std::string> restart_may_change();
};

} // namespace kontor::cg
