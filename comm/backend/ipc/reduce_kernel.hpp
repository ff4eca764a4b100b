// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"
#include "backend/ipc/kernels.hpp"
#include "backend/ipc/mailbox_reduction.hpp"

#include <cstddef>
#include <cstdint>

namespace kontor::comm::ipc {

/// Where the reductions of a mailbox are, in device memory: the kernel counts steps itself, so that one of a
/// graph can be repeated.
struct ReductionState {
  Counter step = 0;      ///< steps that have ended
  unsigned given_up = 0; ///< not 0: a rank has not come, and nothing is reduced any more
};

/// What the kernel works on.
struct DeviceReduction {
  Mailboxes mailboxes;
  ReductionState* state = nullptr;
  HostFlags* host_flags = nullptr; ///< late: 1 + the rank that has not come
  std::uint64_t timeout = 0;       ///< nanoseconds; 0: any time
};

/// What the numbers are.
enum class NumberType { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

/// What a reduction does.
struct NumberReduction {
  NumberType type;
  Combination how;
  std::uint32_t count;
};

/// The most bytes that a reduction by mailboxes takes: one block makes it.
inline constexpr std::size_t most_mailbox_bytes = 32768;

/// Local, queued on the stream. `out`, which may be `in` or null, becomes the combination of all ranks'.
cudaError_t launch_reduce(const DeviceReduction&, const NumberReduction&, const void* in, void* out,
                          cudaStream_t);

} // namespace kontor::comm::ipc
