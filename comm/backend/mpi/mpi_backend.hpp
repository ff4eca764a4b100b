// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"

namespace kontor::comm::mpi {

/// The patterns whose messages arrive in windows.
inline constexpr Subset<Pattern> own_memory{Pattern::rma};

/// What every backend that talks plain MPI shares: plans by pattern.
class MpiBackend : public Backend {
 public:
  explicit MpiBackend(const BackendContext& context) : context_(context) {}

  OwnMemory own_memory(int peer, Pattern) const override;
  PlannedExchange plan(const Schedule&) override;

 protected:
  const BackendContext& context() const { return context_; }

 private:
  BackendContext context_;
};

} // namespace kontor::comm::mpi
