// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/columns.hpp"

namespace kontor::heat {

template void sweep_columns(const ColumnInstance&, const SweepInput<float>&, const FieldView<float>&,
                            const ColumnShape&, Norm, double*);
template void sweep_columns(const ColumnInstance&, const SweepInput<float>&, const FieldView<float>&,
                            const ColumnBoxes&, Norm, double*);
template void sweep_columns(const ColumnInstance&, const SweepInput<double>&, const FieldView<double>&,
                            const ColumnShape&, Norm, double*);
template void sweep_columns(const ColumnInstance&, const SweepInput<double>&, const FieldView<double>&,
                            const ColumnBoxes&, Norm, double*);

} // namespace kontor::heat
