// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/options.hpp"
#include "grid/block.hpp"

/// What a rank allocates, before anything of it is there.
namespace kontor::cg {

/// A rank's part of the matrix.
struct PartSize {
  double rows = 0;
  double ghosts = 0;  ///< where they are known
  double entries = 0; ///< at most, stored or not
};

/// Bytes that an iteration goes through again and again, where a product moves `product` bytes, the vectors that it
/// reads and writes included.
double working_set(const SolverOptions&, const PartSize&, double product);

/// Bytes of a rank: the matrix, also while it is copied to another format, the vectors of a solve, and what the problem
/// and the verification have besides.
double bytes_of_rank(const SolverOptions&, const PartSize&);

/// The same of a rank with this block of the points of a stencil or of elements; the process grid is resolved.
double bytes_of_box(const Options&, const grid::Block&);

} // namespace kontor::cg
