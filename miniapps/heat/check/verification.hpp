// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/domain.hpp"
#include "run/record/result.hpp"

namespace kontor::heat {

/// Collective over the domain's communicator. Judges the current field: by the deck's exact solution and the last
/// sweep, or, where there is none, by what the field leaves of the discrete equation (docs/apps/heat.md, "Tolerance").
/// Nothing of the sweeps' exchanges, ghosts or weights is used. `norm` is the last that is known: if it did not come
/// down to solver.tolerance that is reported, and if it is of the last sweep it must be that of the fields. `seed`: of
/// the places at which the source is compared with the deck. Throws config::Error on all ranks if the exact solution is
/// not finite in some cell.
template <class T>
miniapp::Verification verify(Domain<T>&, double norm, bool of_last_sweep, std::uint64_t seed);

/// Collective. Evaluates the exact solution, if the deck has one, in a few rows of each rank's cells at the end of the
/// run, and throws config::Error on all ranks if it is not finite there.
template <class T>
void probe_exact(const Domain<T>&);

} // namespace kontor::heat
