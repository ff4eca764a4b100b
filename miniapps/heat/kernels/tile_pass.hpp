// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "heat/names.hpp"
#include "heat/problem/stencil.hpp"

namespace kontor::heat {

/// Local; waits for nothing. So many sweeps, 2 or, in 2-D, 4 or 8, of the cells in the box from `in` to `out`, by one
/// kernel of a device. Both are views of fields of a block with at least so many layers of ghosts, all valid around the
/// box. Teams have so many rows.
template <class T, class ExecutionSpace>
void sweep_tiles(const ExecutionSpace&, const SweepInput<T>& in, const FieldView<T>& out, const Block& field_of,
                 const Box&, int sweeps, int rows);

/// Compiled once, in temporal_blocking_device.cpp.
using TileInstance = FieldView<float>::execution_space;
extern template void sweep_tiles(const TileInstance&, const SweepInput<float>&, const FieldView<float>&, const Block&,
                                 const Box&, int, int);
extern template void sweep_tiles(const TileInstance&, const SweepInput<double>&, const FieldView<double>&, const Block&,
                                 const Box&, int, int);

} // namespace kontor::heat
