// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/ipc/kernels.hpp"
#include "backend/ipc/memory.hpp"

#include <kontor/comm/backend/backend.hpp>

#include <mpi.h>

namespace kontor::comm::ipc {

/// All that a plan's kernels and its peers use: counters, the peers' memory as mapped here, and what to copy where.
class Connection {
 public:
  /// Collective. Throws UsageError on every rank if one of them cannot let its sources write into its Views, or cannot
  /// reach those of its destinations.
  Connection(MPI_Comm, const Gpus&, const Schedule&);

  /// Collective; kernels of the plan must have ended. As Mappings::close_on_all_ranks().
  void close() noexcept { mappings_.close_on_all_ranks(comm_); }

  /// Local; kernels of the plan must have ended. The first half of close(), for when others do not come.
  void unmap() { mappings_.close(); }

  const DevicePlan& plan() const { return plan_; }
  PeerSignals& signals() { return *signals_; }

 private:
  struct RecvTarget;
  struct PeerInfo;
  PeerInfo allocate(const Schedule&, const Gpus&);
  void connect(const Schedule&, const std::vector<RecvTarget>&, const std::vector<IpcAddress>& frees);
  Counter* counter(const IpcAddress&, int peer);

  MPI_Comm comm_;
  DevicePlan plan_;
  DeviceArray<State> state_;
  DeviceArray<Counter> counters_; ///< `arrived` of the receives, then `free` of the sends
  DeviceArray<Counter*> tell_free_;
  DeviceArray<Counter*> tell_arrived_;
  DeviceArray<CopyBlock> copy_blocks_;
  Pinned<PeerSignals> signals_;
  Mappings mappings_; // last: gone before this rank's own memory
};

} // namespace kontor::comm::ipc
