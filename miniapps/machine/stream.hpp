// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"

#include <kontor/comm/communicator.hpp>

#include <functional>
#include <vector>

/// How fast the ranks stream through memory, all at once, as they do in a run.
namespace kontor::miniapp {

/// Collective. Seconds of one of so many executions of the work, one after the other, on the slowest rank: from a
/// barrier until the default instance has done them.
double slowest_seconds(const comm::Communicator&, int times, const std::function<void()>& work);

/// Collective. The least of so many samples of slowest_seconds(), of several ways in turn, until a quarter of a second
/// is over, but of each way once at least.
double least_seconds(const comm::Communicator&, int times, int samples, const std::vector<std::function<void()>>& ways);

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
