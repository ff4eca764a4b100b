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

} // namespace kontor::cg
