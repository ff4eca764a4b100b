// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/persistent.hpp"

namespace kontor::heat {

template void sweep_bands(const BandInstance&, const SweepInput<float>&, const SweepInput<float>&, Norm,
                          const PersistentSweeps&);
template void sweep_bands(const BandInstance&, const SweepInput<double>&, const SweepInput<double>&, Norm,
                          const PersistentSweeps&);

} // namespace kontor::heat
