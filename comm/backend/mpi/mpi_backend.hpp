// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/mpi/message.hpp"

#include <memory>

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

// A plan for each of comm::Pattern. All are collective over the communicator; only neighborhood and rma talk to other
// ranks to make a plan.

std::unique_ptr<Plan> make_blocking(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_nonblocking(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_persistent(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_neighborhood(const BackendContext&, MessageSet);
/// The receives land in a window of the plan's own.
PlannedExchange make_rma(const BackendContext&, const Schedule&);

} // namespace kontor::comm::mpi
