// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"
#include "backend/ipc/memory.hpp"

#include <kontor/comm/peer_wait.hpp>

namespace kontor::comm::ipc {

/// Device memory of each rank, mapped into all others.
class PeerMemory final : public PeerAllocation {
 public:
  /// Collective. Throws UsageError on every rank if one of them cannot reach another.
  PeerMemory(const BackendContext&, const Gpus&, std::size_t bytes);
  ~PeerMemory() override;

  std::byte* of(int rank) const override { return of_[static_cast<std::size_t>(rank)]; }
  PeerSignals* signals() const override { return signals_.get(); }

 private:
  BackendContext context_;
  std::vector<std::byte*> of_;
  DeviceArray<std::byte> own_;
  Pinned<PeerSignals> signals_;
  Mappings mappings_; // last: gone before this rank's own memory
};

} // namespace kontor::comm::ipc
