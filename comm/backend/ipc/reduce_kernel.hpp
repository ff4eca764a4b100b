// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"
#include "backend/ipc/kernels.hpp"
#include "backend/number_reduction.hpp"

#include <kontor/comm/mailboxes.hpp>

namespace kontor::comm::ipc {

/// What the kernel works on. The state is that of a mailbox, and late 1 + the rank that has not come.
struct DeviceReduction : DeviceSteps {
  Mailboxes mailboxes;
};

/// The most bytes that a reduction by mailboxes takes: one block makes it.
inline constexpr std::size_t most_mailbox_bytes = 32768;

/// Local, queued on the stream. `out`, which may be `in`, becomes the combination of all ranks'.
cudaError_t launch_reduce(const DeviceReduction&, const NumberReduction&, const void* in, void* out, cudaStream_t);

} // namespace kontor::comm::ipc
