// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/sweep.hpp"

namespace kontor::heat {

template double sweep_in_rows(const RowsInstance&, const SweepInput<float>&, const FieldView<float>&, const Box&, Norm,
                              const PassShape&, PassRoom<float>&);
template double sweep_in_rows(const RowsInstance&, const SweepInput<double>&, const FieldView<double>&, const Box&,
                              Norm, const PassShape&, PassRoom<double>&);

} // namespace kontor::heat
