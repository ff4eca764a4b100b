// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"
#include "backend/ipc/copy_block.hpp"

#include <kontor/comm/peer_wait.hpp>

/// What a step of a plan does on the device. Kernels only, so that a stream can be captured as a graph.
namespace kontor::comm::ipc {

using device::Counter; // steps, from 1: what one end of a message tells the other, in the memory of whoever waits for
                       // it

/// Where a plan is, in device memory: the kernels count steps themselves, so those of a graph can be repeated.
struct State {
  Counter step = 0;       ///< steps whose messages have been sent
  unsigned begun = 0;     ///< blocks of this step
  unsigned ended = 0;     ///< blocks of this step
  unsigned timed_out = 0; ///< not 0: a peer has not come, and nothing is moved any more
};

/// Blocks of a kernel that may wait: a small part of any device.
inline constexpr std::uint32_t few_blocks = 32;

/// What all kernels that wait for other ranks work on.
struct DeviceSteps {
  State* state = nullptr;         ///< in device memory
  PeerSignals* signals = nullptr; ///< in host memory; late: 1 + the message, receives being counted first, or the rank
  std::uint64_t timeout = 0;      ///< nanoseconds; 0: any time

  KONTOR_EITHER PeerWait wait() const { return {signals, timeout}; }
};

/// What the kernels of a plan work on; all in device memory, but for the signals.
struct DevicePlan : DeviceSteps {
  int receives = 0;
  Counter* arrived = nullptr;    ///< [receives] steps that the sources have written
  Counter** tell_free = nullptr; ///< [receives] in their memory

  int sends = 0;
  Counter* free = nullptr;          ///< [sends] steps for which the destinations' cells are free
  Counter** tell_arrived = nullptr; ///< [sends] in their memory

  const CopyBlock* copy_blocks = nullptr; ///< of all sends
  int block_count = 0;
  std::uint32_t tiles = 0;
  std::uint32_t most_blocks = 1; ///< of a kernel
};

/// Local, queued on the stream. Tells the sources that this rank's ghost cells are free, waits for the destinations to
/// say so, writes all messages and tells that they have arrived.
cudaError_t launch_start(const DevicePlan&, cudaStream_t);

/// Local, queued on the stream. Waits until all messages to this rank have arrived.
cudaError_t launch_finish(const DevicePlan&, cudaStream_t);

} // namespace kontor::comm::ipc
