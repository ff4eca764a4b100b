// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/system_atomic.hpp>

#include <cstdint>

namespace kontor::comm {

/// What the host and kernels that wait for other ranks tell each other, in memory that both reach.
struct PeerSignals {
  std::uint64_t late = 0;    ///< 1 + whom a kernel has waited for in vain, such as a rank
  std::uint64_t aborted = 0; ///< not 0: what is waited for is no longer wanted
};

/// How a kernel waits for other ranks: copyable into kernels. A wait that does not succeed ends after the timeout, if
/// there is one, which also ends all others with these signals, or when the host sets `aborted`.
class PeerWait {
 public:
  /// Waits for nobody but this rank.
  PeerWait() = default;
  /// `timeout`: nanoseconds; 0: any time.
  KONTOR_EITHER PeerWait(PeerSignals* signals, std::uint64_t timeout) : signals_(signals), timeout_(timeout) {}

  /// One wait of a thread.
  class Looks {
   public:
    /// `wait` must outlive it.
    KONTOR_EITHER explicit Looks(const PeerWait& wait) : wait_(wait) {}
    /// After a look in vain: whether to look again, a little later. Clock and host are asked seldom: most waits are
    /// short.
    KONTOR_EITHER bool goes_on() {
      constexpr unsigned short_wait = 64, seldom = 256;
      if (++turn_ > short_wait) device::pause();
      if (turn_ % seldom != 0) return true;
      if (wait_.timeout_ > 0) {
        const auto now = device::nanoseconds();
        if (begin_ == 0) begin_ = now;
        if (now - begin_ > wait_.timeout_) return false;
      }
      return !wait_.aborted();
    }

   private:
    const PeerWait& wait_;
    std::uint64_t begin_ = 0; ///< 0: the clock has not been asked
    unsigned turn_ = 0;
  };

  /// By any thread. Waits until the counter has come to the value. Then what was written before can be read by the
  /// thread and, after a barrier, by its team. False: it has not come, and the kernel must end.
  KONTOR_EITHER bool until(const device::Counter& counter, device::Counter value, int whom) const {
    if (comes_to(counter, value, Looks(*this))) return true;
    give_up(whom);
    return false;
  }
  /// The same of what a team of this rank lets grow: only other waits can end it.
  KONTOR_EITHER bool until_own(const device::Counter& counter, device::Counter value) const {
    const PeerWait any_time = for_own();
    return comes_to(counter, value, Looks(any_time));
  }
  /// For what teams of this rank write: it lasts until it is ended with others.
  KONTOR_EITHER PeerWait for_own() const { return PeerWait(signals_, 0); }

  /// Whether waits are to end.
  KONTOR_EITHER bool aborted() const { return signals_ != nullptr && device::load_relaxed(signals_->aborted) != 0; }
  /// All waits end. The first who does so is believed.
  KONTOR_EITHER void give_up(int whom) const {
    if (aborted()) return;
    device::store_relaxed(signals_->late, static_cast<std::uint64_t>(whom) + 1);
    device::store_relaxed(signals_->aborted, 1);
  }

 private:
  /// An acquire takes longer than a look, so only the last look is one.
  KONTOR_EITHER static bool comes_to(const device::Counter& counter, device::Counter value, Looks looks) {
    while (device::load_acquire(counter) < value)
      while (device::load_relaxed(counter) < value)
        if (!looks.goes_on()) return false;
    return true;
  }

  PeerSignals* signals_ = nullptr;
  std::uint64_t timeout_ = 0;
};

} // namespace kontor::comm
