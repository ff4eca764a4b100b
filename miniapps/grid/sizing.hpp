// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/size_options.hpp"

#include <kontor/config/deck.hpp>

/// Sizes of the whole problem, from the keys of size_options.hpp.
namespace kontor::grid {

/// What an app says about its sizes.
struct SizedProblem {
  std::vector<std::string_view> keys; ///< of the sizes: one each, or one of them all
  std::int64_t most;                  ///< that each may be, of the whole
  /// Local. Sizes of the whole problem from those of one rank.
  std::function<Sizes(const Sizes&)> of_all;
  /// Local. Bytes of the rank that takes most, by sizes of the whole problem; grows with them.
  std::function<double(const Sizes&)> bytes;
};

/// Collective if there is a memory share, else local. The sizes of the whole problem; the options become those of plain
/// sizes. Throws config::Error on all ranks if a size is too large, if the share has no room for sizes of 1, or if
/// nobody says how much memory is free.
Sizes resolve_sizes(SizeOptions&, const Sizes& given, const SizedProblem&, const config::Deck&, const FreeMemory&);

/// The extents of a box that a process grid divides.
struct SizedBox {
  std::string_view key;                    ///< of the extents: "problem.cells"
  std::string_view unit;                   ///< "cell"
  Sizes& extents;                          ///< of the deck, then of the whole
  std::vector<std::int64_t>& process_grid; ///< empty: the deck leaves it open
  std::int64_t beyond = 0;                 ///< what is divided has so many more along each axis
  /// Local. Bytes of the rank that takes most, by extents of the whole and the process grid.
  std::function<double(const Sizes&, const std::vector<std::int64_t>&)> bytes;
};

/// The same for a box. Where the deck leaves the process grid open, it is that of the smallest surface for a box of the
/// deck's shape. With problem.local it is filled in if the whole box would lead to another one: a rank's part keeps the
/// extents that the deck gives.
void resolve_box_sizes(SizeOptions&, const SizedBox&, int ranks, const config::Deck&, const FreeMemory&);

} // namespace kontor::grid
