// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/field.hpp"
#include "heat/stencil.hpp"

namespace kontor::heat {

/// What a sweep reads. `source` has own cells only, (nz, ny, nx), or is empty.
template <class T, class Field = FieldView<T>, class Cells = CellView<T>>
struct SweepInput {
  Field u;
  Cells source;
  Stencil<T> stencil;
  Block block;
};

} // namespace kontor::heat
