// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/peer_copy.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/device/devices.hpp>

#include <algorithm>
#include <limits>

namespace kontor::pingpong {

double peer_copy_bandwidth(const comm::Communicator& comm) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  constexpr int copies = 10; // in a sample
  double best = 0;
  comm::barrier(comm); // the other ranks' GPUs rest
  if (comm.rank() == 0 && device::device_count() > 1) {
    const device::PeerCopy copy(bytes);
    copy(1);
    double seconds = std::numeric_limits<double>::max();
    for (int sample = 0; sample < 5; ++sample) {
      comm::Stopwatch watch;
      double once = 0;
      copy(copies);
      watch.lap(once);
      seconds = std::min(seconds, once / copies);
    }
    best = static_cast<double>(bytes) / seconds;
  }
  return comm::allreduce(comm, best, comm::ReduceOp::max);
}

} // namespace kontor::pingpong
