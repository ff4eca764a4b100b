// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <algorithm>
#include <cstdint>

namespace kontor::stepping {

/// Collective. Seconds of work(), of the slowest rank. fence() waits for it. By so many calls, at most.
template <class Work, class Fence>
double seconds_of_slowest(const comm::Communicator& comm, const Work& work, const Fence& fence, double most = 256) {
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
  return seconds_of(static_cast<int>(std::clamp(enough / seconds_of(1), 1.0, std::max(1.0, most))));
}

} // namespace kontor::stepping
