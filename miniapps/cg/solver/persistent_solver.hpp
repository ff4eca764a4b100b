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

  nlohmann::ordered_json record() const override;

 protected:
  void choose_repetition() override;
  std::int64_t make_steps(std::int64_t most) override;
  void check() const override;
  std::string launch() const override { return persistent_ ? "persistent" : Solver::launch(); }
  /// Its sums have an order of their own.
  double launch_tolerance() const override { return persistent_ ? 1e-9 : 0; }
  void clear_ghosts() override;

 private:
  /// Iterations by one kernel, which leaves nothing to the next step.
  void iterate(int count);

  bool persistent_ = false;
  PersistentTeams teams_;
  device::Counter numbers_used_ = 0; ///< of steps of kernels, those of trials included
  std::vector<double> trial_;        ///< seconds of as many iterations without and with it; empty: not tried
};

} // namespace kontor::cg
