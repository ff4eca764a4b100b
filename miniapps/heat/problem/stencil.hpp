// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"
#include "heat/options.hpp"

#include <Kokkos_Core.hpp>

namespace kontor::heat {

/// The update of one cell by the 5-point (2-D) or 7-point (3-D) formula on cell centres,
///   u_new = keep u + gain (sum over axes of c (u_lower + u_upper) + source),   c = alpha / h^2,
/// which is a Jacobi sweep for keep = 0, gain = 1 / d, and a step of explicit Euler for
/// keep = 1 - dt d, gain = dt, where d = sum over axes of c (2 + what the cell's boundary faces add).
///
/// A boundary face needs no case of its own: the ghost cell holds a constant and the diagonal d does the rest.
///   u = g at the face:      the mirrored neighbour is 2 g - u, so the ghost cell holds 2 g and d grows by c;
///   du/dn = q at the face:  the neighbour is u + h q, so the ghost cell holds h q and d shrinks by c.
template <class T>
struct Stencil {
  T c[3] = {};
  T adjust[6] = {}; ///< added to the 2 of d in cells at this face of the block: 1, -1 or 0
  T step = 0;       ///< dt; 0: steady

  struct Weights {
    T keep;
    T gain;
  };

  /// Weights of a cell whose boundary faces add `extra` along each axis. The same numbers in every kernel, so that a
  /// cell's value does not depend on which of them computed it.
  KOKKOS_INLINE_FUNCTION Weights weights(T extra_x, T extra_y, T extra_z) const {
    const T d = c[0] * (2 + extra_x) + c[1] * (2 + extra_y) + c[2] * (2 + extra_z);
    return step == 0 ? Weights{0, 1 / d} : Weights{1 - step * d, step};
  }

  /// What the boundary faces of the block add for a cell at `index` of `cells` along `axis`.
  KOKKOS_INLINE_FUNCTION T extra(int axis, std::int64_t index, std::int64_t cells) const {
    return (index == 0 ? adjust[2 * axis] : T(0)) + (index == cells - 1 ? adjust[2 * axis + 1] : T(0));
  }
};

template <class T>
Stencil<T> make_stencil(const Options& options, const Block& block, double step) {
  Stencil<T> stencil;
  for (int axis = 0; axis < block.dimensions; ++axis)
    stencil.c[axis] = static_cast<T>(options.diffusivity / (block.spacing[axis] * block.spacing[axis]));
  for (int face = 0; face < 2 * block.dimensions; ++face)
    if (block.at_boundary(face)) stencil.adjust[face] = options.faces[face].condition == Condition::neumann ? -1 : 1;
  stencil.step = static_cast<T>(step);
  return stencil;
}

/// The source of a block, (nz, ny, nx), or no cells at all if there is none. Never a View by default: with g++ 12 and
/// Kokkos 4.6 the reference count of one that is copied around is not the null that it should be.
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
