// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/panels.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::matmul {

/// The ranks as layers of a process grid, and the groups that exchange blocks. Ranks are numbered in the
/// order layer, row, column, the last varying fastest.
struct ProcessGrid {
  GridShape shape;
  comm::Communicator all;    ///< Cartesian: layer, row, column; rows and columns are rings
  comm::Communicator layer;  ///< the ranks of this layer
  comm::Communicator row;    ///< those of this row, a ring
  comm::Communicator column; ///< those of this column, a ring
  comm::Communicator fibre;  ///< those at this place of all layers
  GridPlace place;

  /// Collective. Throws UsageError unless the shape has as many ranks as the communicator.
  ProcessGrid(const comm::Communicator& comm, const GridShape& grid)
      : shape(grid), all(comm, {grid.layers, grid.rows, grid.columns}, {false, true, true}),
        layer(all.sub({false, true, true})), row(all.sub({false, false, true})),
        column(all.sub({false, true, false})),
        fibre(all.sub({true, false, false})), place{all.coordinates()[0], all.coordinates()[1],
                                                    all.coordinates()[2]} {}
};

} // namespace kontor::matmul
