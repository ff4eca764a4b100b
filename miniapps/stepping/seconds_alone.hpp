// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

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

/// Collective. Adds the seconds of a step without exchanges, of the slowest rank: what a step of a repeat takes beyond
/// that is exposed communication. launch() makes steps as a repeat launches them, at most 256, and returns their
/// number. Of one rank, which has nothing to exchange, none.
template <class Launch, class Fence>
void sample_alone(const comm::Communicator& comm, std::vector<double>& samples, const Launch& launch,
                  const Fence& fence) {
  if (comm.size() == 1) return;
  const device::Region region("stepping/alone");
  const auto steps = static_cast<double>(launch());
  samples.push_back(seconds_of_slowest(comm, launch, fence, 256 / steps) / steps);
}

/// Of so many steps each.
inline std::vector<double> times(std::vector<double> samples, std::int64_t steps) {
  for (auto& seconds : samples) seconds *= static_cast<double>(steps);
  return samples;
}

} // namespace kontor::stepping
