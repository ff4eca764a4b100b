// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/options.hpp"
#include "grid/block.hpp"
#include "machine/memory.hpp"

/// What a rank allocates, before anything of it is there.
namespace kontor::cg {

/// A rank's part of the matrix.
struct PartSize {
  double rows = 0;
  double ghosts = 0;   ///< where they are known
  double entries = 0;  ///< at most, stored or not
  double runs = 0;     ///< of format matrix_free, at most
  double patterns = 0; ///< of those runs, at most
  int stencil = 0;     ///< entries of a pattern
  bool copied = false; ///< format sell is a copy of rows that are there before
};

/// Bytes that an iteration goes through again and again, where a product moves `product` bytes, the vectors that it
/// reads and writes included.
double working_set(const SolverOptions&, const PartSize&, double product);

/// Views of a rank: compressed rows where they are kept, right-hand side, and the problem's views that are `kept`
/// beside them; and what is there only while the system is `built`, beside the matrix, or, after that, the views of a
/// solve, whichever is more. Not known before are padding in `sell` and buffers of messages.
std::vector<miniapp::Allocation> views_of_rank(const SolverOptions&, const PartSize&,
                                               const std::vector<miniapp::Allocation>& kept = {},
                                               const std::vector<miniapp::Allocation>& built = {});

/// The same of a rank with this block of the points of a stencil or of elements; the process grid is resolved.
std::vector<miniapp::Allocation> views_of_box(const Options&, const grid::Block&);

} // namespace kontor::cg
