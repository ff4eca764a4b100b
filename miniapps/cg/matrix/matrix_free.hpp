// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/problem/box_rows.hpp"

#include <memory>
#include <vector>

namespace kontor::cg {

/// An entry of every row: the point so far away, and what it is multiplied with.
struct StencilEntry {
  int di = 0, dj = 0, dk = 0;
  double weight = 0;
};

/// Local; waits. The product with a stencil whose weights are the same everywhere; nothing of the matrix is
/// stored. At most 27 entries, in the order of rows of the whole matrix; those outside the box are left out.
/// The same bits as the assembled matrix has.
std::unique_ptr<Matrix> make_matrix_free(const BoxRows&, const std::vector<StencilEntry>&,
                                         const ProductTuning& = {});

} // namespace kontor::cg
