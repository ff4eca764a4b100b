// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/march.hpp"

namespace kontor::heat {

template void march(const MarchInstance&, const SweepInput<float>&, const FieldView<float>&,
                    const MarchShape&, Norm, double*);
template void march(const MarchInstance&, const SweepInput<float>&, const FieldView<float>&,
                    const MarchBoxes&, Norm, double*);
template void march(const MarchInstance&, const SweepInput<double>&, const FieldView<double>&,
                    const MarchShape&, Norm, double*);
template void march(const MarchInstance&, const SweepInput<double>&, const FieldView<double>&,
                    const MarchBoxes&, Norm, double*);

} // namespace kontor::heat
