// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/peer_wait.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace kontor::comm {

namespace detail {

/// Local. Why the communicator's backend cannot let kernels in this memory reach other ranks' memory.
std::optional<std::string> peer_refusal(const Communicator&, bool host_memory);
/// Collective. Throws UsageError on every rank, as refused on one of them.
std::unique_ptr<PeerAllocation> allocate_for_peers(const Communicator&, std::size_t bytes, bool host_memory);
/// Collective, unless this rank ends alone: then waits of its kernels end.
void free_for_peers(const Communicator&, std::unique_ptr<PeerAllocation>);
/// Local. Throws Error if a kernel has waited in vain.
void check_late(const Communicator&, const PeerAllocation&);
/// How long kernels wait, in nanoseconds; 0: any time.
std::uint64_t peer_timeout(const Communicator&);

} // namespace detail

/// Memory of which each rank has a part that kernels of all ranks read and write: with one rank by any backend, with
/// several by those that map it (`ipc` for GPUs, `shm` for hosts). So a kernel can exchange data with others while it
/// runs: it writes, and then lets a counter grow there by device::store_release(); the other waits by
/// PeerWait::until(). A counter must not fall, and whoever writes must know that what it overwrites has been read.
/// Kernels that wait for each other must run at once. Waits have a timeout at check level `cross_rank` only; at the
/// others they last until the counter comes, or until the host calls abort().
template <class MemorySpace>
class PeerMemory : device::NonCopyable {
 public:
  /// Local. Why it cannot be had with this communicator, equal on all ranks; nothing if it can.
  static std::optional<std::string> refusal(const Communicator& comm) {
    if (comm.size() == 1) return std::nullopt;
    return detail::peer_refusal(comm, device::on_host<MemorySpace>);
  }

  /// Collective. So many bytes for this rank, all zero; `label` is for tools and errors. Shares the communicator.
  /// Throws UsageError on every rank where there is a refusal, or where one cannot reach another.
  PeerMemory(const Communicator& comm, std::size_t bytes, const std::string& label) : comm_(comm.share()) {
    if (comm.size() > 1)
      mapped_ = detail::allocate_for_peers(comm, bytes, device::on_host<MemorySpace>);
    else
      own_ = Kokkos::View<std::byte*, MemorySpace>(label, bytes);
  }

  /// Collective, unless an exception is passing or a wait has failed. Waits for kernels under way, and for the other
  /// ranks: then no kernel uses any part.
  ~PeerMemory() {
    if (mapped_) detail::free_for_peers(comm_, std::move(mapped_));
  }

  /// Local. Where the memory of that rank begins, for kernels of this one. At a cache line.
  std::byte* of(int rank) const { return mapped_ ? mapped_->of(rank) : own_.data(); }

  /// Local. How kernels of this rank wait.
  PeerWait wait() const { return mapped_ ? PeerWait(mapped_->signals(), detail::peer_timeout(comm_)) : PeerWait(); }

  /// Local, after kernels that wait have ended. Throws Error if one of them waited in vain.
  void check() const {
    if (mapped_) detail::check_late(comm_, *mapped_);
  }

  /// Local; any thread. Waits of this rank's kernels end without success, those that begin later too. Other ranks are
  /// not told.
  void abort() const {
    if (mapped_) std::atomic_ref(mapped_->signals()->aborted).store(1);
  }

 private:
  Communicator comm_;
  Kokkos::View<std::byte*, MemorySpace> own_;
  std::unique_ptr<PeerAllocation> mapped_;
};

} // namespace kontor::comm
