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

/// A method with one sum an iteration, whose iterations one kernel can make.
class PersistentSolver : protected PeersFirst, public Solver {
 public:
  /// Collective. Throws config::Error if the deck wants a kernel that cannot be.
  PersistentSolver(const Workspace&, const std::string& label);

  nlohmann::ordered_json record() const override;

 protected:
  /// Local. What the kernel's rows do, and where their sums are.
  virtual std::variant<MergedUpdate, PipelinedUpdate> rows() = 0;
  virtual GlobalDots& step_sums() = 0;

  void choose_repetition() override;
  std::int64_t make_steps(std::int64_t most) override;
  /// Local; waits. Throws comm::Error if the last kernel has waited for another rank in vain.
  void check_kernels();

 private:
  /// Iterations by one kernel, which leave their end to the next one, as step() does.
  void iterate(int count);

  bool persistent_ = false;
  PersistentTeams teams_;
  device::Counter numbers_used_ = 0; ///< of steps of kernels, those of trials included
  std::vector<double> trial_;        ///< seconds of as many iterations without and with it; empty: not tried
};

} // namespace kontor::cg
