// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/options.hpp"
#include "stencil/options.hpp"

namespace kontor::advection {

/// The keys of a deck that are advection's own, beside those of all stencil apps.
struct Options : stencil::Options {
  std::vector<double> size{1, 1};        ///< lengths of the rectangle, whose lower corner is the origin
  std::vector<double> velocity{1, 0.5};  ///< of the wave
  double courant = 0.8;                  ///< sum over axes of |velocity| time step / cell width; at most 1 is stable
  std::vector<std::int64_t> waves{3, 2}; ///< along x and y: u = sin(2 pi (waves_x x / size_x + waves_y y / size_y))

  Options() : stencil::Options({64, 64}) {}
  void describe(config::Visitor&);
  /// Local. Rejects what cannot run on so many ranks.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});

  double width(std::size_t axis) const { return size[axis] / static_cast<double>(cells[axis]); } ///< of a cell
  double time_step() const;
};

} // namespace kontor::advection
