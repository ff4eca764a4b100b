// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <algorithm>

namespace kontor::stepping {

/// Collective, in a warm-up. Seconds of work(), of the slowest rank. fence() waits for it.
template <class Work, class Fence>
double seconds_of_slowest(const comm::Communicator& comm, const Work& work, const Fence& fence) {
  const auto seconds_of = [&](int count) {
    fence();
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) work();
    fence();
    watch.lap(seconds);
    return comm::allreduce(comm, seconds / count, comm::ReduceOp::max);
  };
  constexpr double enough = 0.05; // seconds
  return seconds_of(static_cast<int>(std::clamp(enough / seconds_of(1), 1.0, 256.0)));
}

/// Collective, in a warm-up. Seconds of step(), which computes and exchanges nothing, of the slowest rank: what a step
/// takes beyond that is exposed communication. fence() waits for steps. Of one rank, which has nothing to exchange, 0.
template <class Step, class Fence>
double seconds_alone(const comm::Communicator& comm, const Step& step, const Fence& fence) {
  if (comm.size() == 1) return 0;
  const device::Region region("stepping/alone");
  return seconds_of_slowest(comm, step, fence);
}

} // namespace kontor::stepping
