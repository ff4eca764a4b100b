// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/method.hpp"
#include "cg/solver/solver_state.hpp"
#include "run/loop/launches.hpp"
#include "run/record/result.hpp"

#include <array>
#include <functional>
#include <utility>

namespace kontor::cg {

/// Iterations of a method for one system: the guess, its residual, the loop of iterations, how they end.
///
/// Where the iteration ends is decided from sums over all ranks. MPI's all-reduction has one result, and the libraries
/// in use give its bits to every rank, NCCL too; so all ranks end at the same iteration without being told.
class Solver : public miniapp::Steps {
 public:
  /// Collective. make(state) gives the method; see CgState for the others.
  template <class Make>
  Solver(const Workspace& work, const std::string& label, const Make& make, const Vector& own_and_ghosts = {})
      : Solver(work, label, own_and_ghosts) {
    method_ = make(state_);
  }

  /// Collective. A few iterations, and the choice of launches. Throws as Launches::choose().
  void warm_up();
  /// Collective, before reset(). Launches of many iterations against single ones.
  miniapp::Verification verify_launches();
  /// Local. The guess again.
  void reset();
  miniapp::Launches& launches() { return launches_; }
  const miniapp::Launches& launches() const { return launches_; }

  miniapp::StepPlan plan() const final;
  miniapp::LaunchTerms launch_terms() override;
  void begin(miniapp::Launch) final;
  int queue(int state, const miniapp::Pass&) final;
  void account(const miniapp::Pass&) final;
  bool fits_graph() const final { return !drained_; }
  void poll() final;
  std::optional<std::int64_t> ended(std::int64_t made, bool wait) final;
  void drain() final;
  double value() const final { return log_.made().empty() ? 0 : log_.made().back().residual; }
  /// Collective. Before iterations without exchanges, of which none is the last, and after them: whether they were
  /// alike. They spoil the vectors.
  void begin_alone();
  bool end_alone();

  /// Collective, after drain(). How the solve ended, the same on all ranks.
  Outcome outcome() const;
  /// Local, after drain(). What a solve goes on from.
  SolverState state() const;
  /// Collective, after reset(). The next solve goes on from there: what state() gave, whose vectors
  /// fill(SolverStateVector) gives their values.
  using FillVector = std::function<void(const SolverStateVector&)>;
  void go_on_from(const SolverState&, const FillVector& fill);
  /// Local, after drain(). Iterations that kernels have made of the vectors, and steps that were queued beyond them.
  std::int64_t made() const { return log_.state_now().made; }
  std::int64_t surplus() const { return log_.state_now().next - 1 - made(); }
  /// Local, after drain(); waits. The solution, own values.
  Vector solution() const { return state_.scaled(1 / state_.unit, x_); }
  /// Vectors that the next reset() makes anew: for own rows and ghosts, and two for own rows, the last of which may be
  /// empty.
  std::array<Vector, 3> lent() const {
    const bool ghosted = residual().data() == ghosted_.own().data();
    return {ghosted_.all(), scratch(), ghosted ? Vector() : residual()};
  }
  /// Relative residuals of the last solve by the recurrence, from iteration 0 on.
  std::vector<double> history() const;
  /// The alpha and beta by which each of these but the first was reached.
  std::vector<std::pair<double, double>> coefficients() const;
  /// The exchange of what the matrix is multiplied with in each iteration.
  const comm::Exchange<Vector>& exchange() const { return ghosted_.exchange(); }
  /// M; null: none.
  Preconditioner* preconditioner() const { return preconditioner_.get(); }
  /// Local. Phases of all exchanges since the last reset().
  comm::PhaseTimes exchange_times() const;
  /// Local. Of the iterations after the first `begin`, to the one that makes them `end`.
  Cost cost(std::int64_t begin, std::int64_t end) const;
  /// Local. What the record says of the method, an object.
  virtual nlohmann::ordered_json record() const;

 protected:
  /// As the method says.
  bool ends_late() const { return parts().ends_late; }
  std::int64_t replace_every() const { return parts().replace_every; }
  const std::vector<GlobalDots*>& sums() const { return parts().sums; }
  const Vector& residual() const { return parts().residual; }
  const Vector& scratch() const { return parts().scratch; }
  /// Local, after steps have been made. Throws comm::Error if a kernel has waited for another rank in vain.
  virtual void check() const {}
  /// Queued. Ghosts are 0, in all vectors that have some; so may be all else.
  virtual void clear_ghosts();
  /// Local. Whether vectors are made anew after so many further steps.
  bool replaces_after(std::int64_t more) const {
    const auto steps = steps_ + more;
    return replace_every() > 0 && steps % replace_every() == 0 && steps < work_.options.max_iterations;
  }
  /// By how much x may differ after launches of many steps, relative to its largest entry.
  virtual double launch_tolerance() const { return 0; }
  std::int64_t own() const { return state_.own(); }
  const Space& compute() const { return state_.compute(); }
  CgMethod& method() const { return *method_; }

 private:
  /// Collective. Without a method.
  Solver(const Workspace&, const std::string& label, const Vector& own_and_ghosts);
  const MethodParts& parts() const { return method_->parts(); }
  /// Collective.
  void begin_solve(double squared_tolerance);
  double squared_tolerance() const;
  /// Collective. Whether steps exchange ghosts and sums.
  void exchange(bool exchanges);
  void end() { method_->end(); }
  void replace() { method_->replace(); }

  CgState state_;

 protected: // of the state
  const Workspace& work_ = state_.work;
  GhostedVector& ghosted_ = state_.ghosted;
  const std::unique_ptr<Preconditioner>& preconditioner_ = state_.preconditioner;
  const Vector& x_ = state_.x;
  ResidualLog& log_ = state_.log;
  bool& drained_ = state_.drained;

 private:
  std::unique_ptr<CgMethod> method_;
  bool goes_on_ = false;   ///< the solve begins where go_on_from() says
  std::int64_t steps_ = 0; ///< of the solve
  GlobalDots rhs_;
  miniapp::Launches launches_{*this, work_.timers}; // after what it uses
};

/// Collective. A whole solve from the guess, or from where go_on_from() says.
inline Outcome solve(Solver& solver, const miniapp::BetweenSteps& between = {}) {
  miniapp::run_steps(solver.launches(), between);
  return solver.outcome();
}

/// Collective. What the options ask for; null: none.
std::unique_ptr<Preconditioner> make_preconditioner(const Workspace&);

/// Collective. Throws config::Error if the deck wants launches that cannot be.
std::unique_ptr<Solver> make_solver(const Workspace&);

} // namespace kontor::cg
