// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"

#include <kontor/comm/broadcast.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

/// How fast the ranks stream through memory, all at once, as they do in a run.
namespace kontor::miniapp {

/// Collective. Seconds of the slowest rank for so many executions of the work, one after the other: from a barrier
/// until the default instance has done it.
template <class Work>
double slowest_seconds(const comm::Communicator& comm, int times, const Work& work) {
  const Kokkos::DefaultExecutionSpace instance;
  device::fence(instance, "calibrate/ready");
  comm::barrier(comm);
  comm::Stopwatch watch;
  double seconds = 0;
  for (int i = 0; i < times; ++i) work();
  device::fence(instance, "calibrate/done");
  watch.lap(seconds);
  return comm::allreduce(comm, seconds, comm::ReduceOp::max);
}

/// Local. Bytes of a rank's vectors on a host, where so many ranks compute on its node: more than a core finds in
/// caches that it may have to itself, less where many ranks share them and the memory.
double streamed_host_bytes(int ranks_of_node);

/// Collective; equal on every rank. The same of this communicator: the least over its nodes; on devices 3 GiB. Not more
/// than a rank's part of an eighth of what is free.
double streamed_bytes(const comm::Communicator&);

/// Local. Bytes of a rank's vectors beside which the start of a kernel takes little time: 1 MiB for each thread of a
/// host, 256 MiB on a device.
double least_streamed_bytes();

/// Collective; valid on every rank. Rates of all ranks together, each with vectors of `bytes` bytes together, at least
/// one element each, in huge pages where asked and the system has them. Each pattern is measured in several ways in
/// turn, as often as `samples` says in all, until a quarter of a second is over, but at least once each. The fastest
/// sample counts:
///   read   sums all elements; on hosts with and without prefetches;
///   copy   from one half to the other; on hosts by non-temporal stores (where the processor has them) and by
///          ordinary ones, on devices by a kernel and by the vendor's copy;
///   triad  a += b + 3 c on three thirds (nstream of the Parallel Research Kernels).
StreamRates stream_rates(const comm::Communicator&, double bytes, bool huge_pages, int samples);

} // namespace kontor::miniapp
