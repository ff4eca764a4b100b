// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "grid/field.hpp"
#include "run/record/result.hpp"

/// The exact solution of the scheme, from the deck alone. A sine stays a sine: each step multiplies its complex
/// amplitude by g = 1 - sum over axes of c (1 - e^(-+i theta)), where theta = 2 pi waves / cells and c = |velocity|
/// time step / cell width.
namespace kontor::advection {

/// Collective. All cells of the field against the start.
miniapp::Verification compare_start(const comm::Communicator&, const Options&, const grid::Block&,
                                    const grid::FieldView<double>&);

/// Collective. All cells of the field against the sine after options.steps. Inconclusive if that is too small, or too
/// near the start, for a wrong field to show.
miniapp::Verification compare(const comm::Communicator&, const Options&, const grid::Block&,
                              const grid::FieldView<double>&);

} // namespace kontor::advection
