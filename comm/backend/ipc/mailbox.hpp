// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"
#include "backend/ipc/memory.hpp"
#include "backend/ipc/reduce_kernel.hpp"

#include <kontor/device/noncopyable.hpp>

namespace kontor::comm::ipc {

/// The memory by which kernels of all ranks reduce: a mailbox on each, mapped into all others.
class Mailbox {
 public:
  /// Collective. For reductions of up to so many bytes. Throws UsageError on every rank if one cannot reach another.
  Mailbox(MPI_Comm, const Gpus&, std::size_t bytes);

  std::size_t bytes() const { return bytes_; }
  const DeviceReduction& plan() const { return plan_; }
  PeerSignals& signals() { return *signals_; }
  /// Local; no kernel may still use it. The memory of other ranks is no longer mapped here.
  void unmap() { mappings_.close(); }

 private:
  IpcAddress allocate(int ranks, const Gpus&);

  std::size_t bytes_;
  DeviceReduction plan_;
  DeviceArray<Word> words_;
  DeviceArray<State> state_;
  Pinned<PeerSignals> signals_;
  Mappings mappings_; // last: gone before this rank's own memory
};

/// The mailboxes of a communicator. To free one, all ranks must have let go of it; so they are kept and used again
/// until the communicator ends.
class MailboxPool : device::NonCopyable {
 public:
  MailboxPool(const BackendContext& context, Gpus gpus) : context_(context), gpus_(std::move(gpus)) {}
  /// Collective, unless this rank ends alone.
  ~MailboxPool();

  const BackendContext& context() const { return context_; }

  /// Collective. One that no rank uses, for reductions of up to so many bytes: the same on all. Throws like Mailbox.
  Mailbox& take(std::size_t bytes);
  /// Local; no kernel of this rank may still use it, and those of all its reductions have ended well.
  void give_back(Mailbox&);
  /// Local. Kernels of this rank may still use it.
  void leak(Mailbox&);

 private:
  enum class Use : int { none, taken, leaked };
  struct Entry {
    std::unique_ptr<Mailbox> mailbox;
    Use use = Use::none;
  };
  Entry& entry_of(const Mailbox&);

  BackendContext context_;
  Gpus gpus_;
  std::vector<Entry> entries_; ///< alike on all ranks, but for their use
};

} // namespace kontor::comm::ipc
