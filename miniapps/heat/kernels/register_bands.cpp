// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/register_bands.hpp"

namespace kontor::heat::detail {

template void sweep_registers(const RegisterInstance&, const SweepInput<float>&, const SweepInput<float>&, Norm,
                              const PersistentSweeps&);
template void sweep_registers(const RegisterInstance&, const SweepInput<double>&, const SweepInput<double>&, Norm,
                              const PersistentSweeps&);

} // namespace kontor::heat::detail
