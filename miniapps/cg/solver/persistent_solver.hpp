// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/peers.hpp"
#include "cg/solver/persistent.hpp"
#include "cg/solver/solver.hpp"

namespace kontor::cg {

/// Memory of all ranks for a solver that is made with it.
struct PeersFirst {
  std::optional<Peers> peers;
};

/// Iterations of a method with one sum, which one kernel can make.
class PersistentSolver : protected PeersFirst, public Solver {
 public:
  /// Collective. Throws config::Error if the deck wants a kernel that cannot be.
  using Make = std::unique_ptr<OneSumMethod>(CgState&);
  PersistentSolver(const Workspace&, const std::string& label, Make);

  miniapp::LaunchTerms launch_terms() override;
  int kernel_length(std::int64_t made, std::int64_t until) const override;
  int launch_kernel(std::int64_t made, int steps, bool exchanges, bool may_end) override;
  /// Throws comm::Error if a kernel has waited for another rank in vain.
  void drain() override;
  void begin_alone() override;

 private:
  PersistentTeams teams_;
  device::Counter numbers_used_ = 0; ///< of steps of kernels, those of trials included
};

} // namespace kontor::cg
