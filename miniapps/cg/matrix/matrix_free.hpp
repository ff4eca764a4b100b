// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "grid/block.hpp"
#include "partition/partition.hpp"

#include <vector>

namespace kontor::cg {

/// Local numbers of the points of a block and of the layer around it: (z + 1, y + 1, x + 1) of block indices; -1 where
/// there is no point.
using PointRows = Kokkos::View<LocalIndex***, Kokkos::LayoutRight>;

/// An entry of every row: the point so far away, and what it is multiplied with.
struct StencilEntry {
  int di = 0, dj = 0, dk = 0;
  double weight = 0;
};

/// Local; waits. The product with a stencil whose weights are the same everywhere; nothing of the matrix is stored. At
/// most 27 entries, in the order of rows of the whole matrix; those outside the box are left out. The same bits as the
/// assembled matrix has.
std::unique_ptr<Matrix> make_matrix_free(const PointRows&, const Partition&, const std::vector<StencilEntry>&,
                                         const ProductTuning& = {});

/// Local. What it has at most of a block of points (x, y, z) of a process grid (x, y, z): runs of up to 32 rows, and
/// patterns of neighbours that a run may have. Rows whose points are cut off from those beside them are numbered apart,
/// and have runs of their own.
struct MostRuns {
  double runs = 0, patterns = 0;
};
MostRuns most_runs(const grid::Index3& points, const std::vector<std::int64_t>& process_grid);

} // namespace kontor::cg
