// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/rows.hpp"

namespace kontor::heat {

template double sweep_rows(const RowsInstance&, const SweepInput<float>&, const FieldView<float>&, const Box&, Norm,
                           const PassShape&);
template double sweep_rows(const RowsInstance&, const SweepInput<double>&, const FieldView<double>&, const Box&, Norm,
                           const PassShape&);

} // namespace kontor::heat
