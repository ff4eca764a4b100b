// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/ipc/atomic.cuh"
#include "backend/ipc/kernels.hpp"

namespace kontor::comm::ipc {

using HostNumber = SystemAtomic<int>;

/// One wait of a thread: between looks.
class DeviceWait {
 public:
  __device__ DeviceWait(std::uint64_t timeout, HostFlags* flags) : timeout_(timeout), flags_(flags) {}

  /// After a look in vain: whether to look again, a little later. Not after the timeout (nanoseconds; 0:
  /// there is none), nor when the host no longer wants what is waited for. Clock and host are asked seldom:
  /// most waits are short.
  __device__ bool goes_on() {
    pause();
    if (++turn_ % 256 != 0) return true;
    if (timeout_ > 0) {
      const auto now = nanoseconds();
      if (begin_ == 0) begin_ = now;
      if (now - begin_ > timeout_) return false;
    }
    return HostNumber(flags_->aborted).load(memory_order_relaxed) == 0;
  }

 private:
  std::uint64_t timeout_;
  HostFlags* flags_;
  std::uint64_t begin_ = 0; ///< 0: the clock has not been asked
  unsigned turn_ = 0;
};

} // namespace kontor::comm::ipc
