// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/body.hpp"
#include "run/record/result.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace kontor::dynamics {

/// Local; waits. In a warm-up: changes the state. What `elements`, the run's kernels over all elements, make of a
/// linear velocity field, whose gradient is constant (the patch test), and of a rigid rotation, which has no stress.
template <class T>
std::vector<miniapp::Check> check_kernels(Body<T>&, const std::function<void()>& elements);

/// Collective, waits. Judges the state after `steps` steps by conservation laws, by plain forms of the kernels, by the
/// wave equation where it applies, and by what plain MPI brings from other ranks. `exchange` makes the seam's exchange
/// once more; `of_kernels` are from check_kernels().
template <class T>
miniapp::Verification verify(const Body<T>&, const comm::Communicator&, std::int64_t steps,
                             std::vector<miniapp::Check> of_kernels, const std::function<void()>& exchange);

} // namespace kontor::dynamics
