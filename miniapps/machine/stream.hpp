// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

/// How fast the ranks stream through memory, all at once, as they do in a run.
namespace kontor::miniapp {

/// Collective. Bytes of a rank's vectors together: more than a core finds in caches that it may have to
/// itself, less where many ranks share them and the memory; 1 GiB each on a device that has it.
double streamed_bytes(const comm::Communicator&);

/// Collective; valid on every rank. Bytes/s, all ranks together, of the triad a += b + s c, which reads three
/// words and writes one that it has read, so the 4 words counted are the 4 that move (Parallel Research
/// Kernels, nstream). `bytes` are those of this rank's three vectors, at least one element each.
double triad_bandwidth(const comm::Communicator&, double bytes);

/// Collective; valid on every rank. Bytes/s, all devices together, of the devices' own copy from one vector
/// to another, of `bytes` together: what is copied is read and written. 0 where kernels run on the host.
double copy_bandwidth(const comm::Communicator&, double bytes);

} // namespace kontor::miniapp
