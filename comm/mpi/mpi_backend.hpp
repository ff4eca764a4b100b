// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/backend_context.hpp"

namespace kontor::comm::mpi {

/// What every backend that talks plain MPI shares: plans by pattern, and the collectives.
class MpiBackend : public Backend {
 public:
  /// Throws UsageError if the pattern cannot do the packing.
  explicit MpiBackend(const BackendContext&);

  OwnMemory own_memory(int peer) const override;
  std::unique_ptr<Plan> plan(Schedule&) override;

  void allreduce(const void* contribution, const Buffer& result, ReduceOp) override;
  void bcast(const Buffer&, int root) override;
  void barrier() override;

 protected:
  const BackendContext& context() const { return context_; }

 private:
  BackendContext context_;
};

} // namespace kontor::comm::mpi
