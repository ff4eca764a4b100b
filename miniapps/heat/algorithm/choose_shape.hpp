// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/algorithm/sweeper.hpp"
#include "stepping/trial.hpp"

namespace kontor::heat {

/// Collective; sweeps. Gives the sweeper the fastest shape by a trial, the same on all ranks: stores, prefetching and
/// tiles on a host, of what the deck leaves open, and kernels of a pass on a device. Sweeps compute that norm. No
/// candidates if there is no choice, or where the fields of a rank fit in any cache.
template <class T>
stepping::Trial choose_shape(Sweeper<T>&, Domain<T>&, Norm);

extern template stepping::Trial choose_shape(Sweeper<float>&, Domain<float>&, Norm);
extern template stepping::Trial choose_shape(Sweeper<double>&, Domain<double>&, Norm);

} // namespace kontor::heat
