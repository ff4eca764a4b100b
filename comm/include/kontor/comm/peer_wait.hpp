// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/system_atomic.hpp>

#include <cstdint>

namespace kontor::comm {

/// What the host and kernels that wait for other ranks tell each other, in memory that both reach.
struct PeerSignals {
  std::uint64_t late = 0;    ///< 1 + the rank that has not come
  std::uint64_t aborted = 0; ///< not 0: the host no longer wants what is waited for
};

/// How a kernel waits for other ranks: copyable into kernels. No wait lasts for ever: it ends after the timeout, or when
/// the host wants it to.
class PeerWait {
 public:
  /// Waits for nobody but this rank.
  PeerWait() = default;
  /// `timeout`: nanoseconds; 0: any time.
  PeerWait(PeerSignals* signals, std::uint64_t timeout) : signals_(signals), timeout_(timeout) {}

  /// By any thread. Waits until the counter has come to the value. Then what that rank wrote before can be read by the
  /// thread and, after a barrier, by its team. False: it has not come, and the kernel must end.
  KONTOR_EITHER bool until(const device::Counter& counter, device::Counter value, int rank) const {
    std::uint64_t begin = 0;
    for (unsigned turn = 1; device::load_acquire(counter) < value; ++turn) {
      device::pause();
      if (turn % 256 != 0 || signals_ == nullptr) continue;
      const auto now = timeout_ > 0 ? device::nanoseconds() : 0;
      if (begin == 0) begin = now;
      const bool late = timeout_ > 0 && now - begin > timeout_;
      if (late) device::store_relaxed(signals_->late, static_cast<std::uint64_t>(rank) + 1);
      if (late || device::load_relaxed(signals_->aborted) != 0) return false;
    }
    return true;
  }

 private:
  PeerSignals* signals_ = nullptr;
  std::uint64_t timeout_ = 0;
};

} // namespace kontor::comm
