// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "handle.hpp"

namespace kontor::comm::mpi {

/// What every backend that talks plain MPI shares: plans by pattern, and the collectives.
class MpiBackend : public Backend {
 public:
  /// Throws UsageError if the pattern cannot do the packing.
  explicit MpiBackend(const MpiHandle&);

  OwnMemory own_memory(int peer) const override;
  std::unique_ptr<Plan> plan(Schedule&) override;

  void allreduce(const Buffer&, ReduceOp) override;
  void bcast(const Buffer&, int root) override;
  void barrier() override;

 protected:
  const MpiHandle& handle() const { return handle_; }

 private:
  MpiHandle handle_;
};

} // namespace kontor::comm::mpi
