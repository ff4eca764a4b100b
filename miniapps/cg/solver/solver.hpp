// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/method.hpp"
#include "cg/solver/solver_state.hpp"
#include "run/loop/run_steps.hpp"
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
    method_ = make(cg_);
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
  bool fits_graph() const final { return open() || !parts().ends_late; }
  void poll() final;
  std::optional<std::int64_t> ended(std::int64_t made, bool wait) final;
  void drain() override;
  double value() const final { return cg_.log.made().empty() ? 0 : cg_.log.made().back().residual; }
  /// Collective. Before iterations without exchanges, of which none is the last, and after them: whether they were
  /// alike. They spoil the vectors.
  virtual void begin_alone();
  bool end_alone();

  /// Collective, after drain(). How the solve ended, the same on all ranks.
  Outcome outcome() const;
  /// Local, after drain(). What a solve resumes from.
  SolverState state() const;
  /// Collective, after reset(). The next solve resumes from there: what state() gave, whose vectors
  /// fill(SolverStateVector) gives their values.
  using FillVector = std::function<void(const SolverStateVector&)>;
  void go_on_from(const SolverState&, const FillVector& fill);
  /// Local, after drain(). Iterations that kernels have made of the vectors, and steps that were queued beyond them.
  std::int64_t made() const { return cg_.log.state_now().made; }
  std::int64_t surplus() const { return cg_.log.state_now().next - 1 - made(); }
  /// Local, after drain(); waits. The solution, own values.
  Vector solution() const { return cg_.scaled(1 / cg_.unit, cg_.x); }
  /// Vectors that the next reset() makes anew: for own rows and ghosts, and two for own rows, the last of which may be
  /// empty.
  std::array<Vector, 3> lent() const {
    const bool ghosted = residual().data() == cg_.ghosted.own().data();
    return {cg_.ghosted.all(), scratch(), ghosted ? Vector() : residual()};
  }
  /// Relative residuals of the last solve by the recurrence, from iteration 0 on.
  std::vector<double> history() const;
  /// The alpha and beta by which each of these but the first was reached.
  std::vector<std::pair<double, double>> coefficients() const;
  /// The exchange of what the matrix is multiplied with in each iteration.
  const comm::Exchange<Vector>& exchange() const { return cg_.ghosted.exchange(); }
  /// M; null: none.
  Preconditioner* preconditioner() const { return cg_.preconditioner.get(); }
  /// Local. Phases of all exchanges since the last reset().
  comm::PhaseTimes exchange_times() const;
  /// Local. Of the iterations after the first `begin`, to the one that makes them `end`.
  Cost cost(std::int64_t begin, std::int64_t end) const;
  /// Local. What the record says of the method, an object.
  virtual nlohmann::ordered_json record() const;

 protected:
  std::int64_t replace_every() const { return parts().replace_every; }
  const std::vector<GlobalDots*>& sums() const { return parts().sums; }
  const Vector& residual() const { return parts().residual; }
  const Vector& scratch() const { return parts().scratch; }
  /// Local. Whether vectors are made anew after so many further steps.
  bool replaces_after(std::int64_t more) const {
    const auto steps = steps_ + more;
    return replace_every() > 0 && steps % replace_every() == 0 && steps < cg_.work.options.max_iterations;
  }
  std::int64_t own() const { return cg_.own(); }
  const Space& compute() const { return cg_.compute(); }
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
  /// Local. Whether the last step has left its residual to the next one.
  bool open() const { return parts().ends_late && !cg_.closed; }
  /// Collective. The residual of the last step to the log.
  void close();

 protected:
  CgState cg_;

 private:
  std::unique_ptr<CgMethod> method_;
  bool goes_on_ = false;   ///< the solve begins where go_on_from() says
  std::int64_t steps_ = 0; ///< of the solve
  GlobalDots rhs_;
  miniapp::Launches launches_{*this, cg_.work.timers}; // after what it uses
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
