// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"
#include "heat/problem/stencil.hpp"

namespace kontor::heat {

/// The source of a block, (nz, ny, nx), or no cells at all if there is none. Never a View by default: with
/// g++ 12 and Kokkos 4.6 the reference count of one that is copied around is not the null that it should be.
template <class T>
BlockView<T> make_source(const Block& block, bool sourced) {
  if (!sourced) return BlockView<T>("heat/no source", 0, 0, 0);
  return BlockView<T>("heat/source", block.extents[2], block.extents[1], block.extents[0]);
}

/// What a sweep reads. `source` has own cells only, (nz, ny, nx), or is empty.
template <class T, class Field = FieldView<T>, class Cells = BlockView<T>>
struct SweepInput {
  Field u;
  Cells source;
  Stencil<T> stencil;
  Block block;
};

} // namespace kontor::heat
