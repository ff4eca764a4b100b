// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/solver/residual_log.hpp"
#include "cg/solver/solver_state.hpp"
#include "cg/solver/workspace.hpp"
#include "machine/first_touch.hpp"
#include "machine/huge_pages.hpp"
#include "run/loop/steps.hpp"
#include "run/record/result.hpp"
#include "stepping/global_dots.hpp"
#include "stepping/row_sums.hpp"
#include "stepping/step_graph.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kontor::cg {

/// What a method is made of.
struct MethodParts {
  std::vector<SolverStateVector> vectors; ///< that a step goes on from, but for the solution
  std::vector<GlobalDots*> sums;          ///< of a step
  Vector residual;                        ///< r
  Vector scratch;                         ///< holds nothing between steps; not the ghosted vector
  Cost step;                              ///< of a step
  Cost replacement = {};
  std::int64_t replace_every = 0; ///< steps after which vectors of recurrences are made anew; 0: never
  /// A step leaves it to the next one to write its residual to the log, and begin_iteration() to the first.
  bool ends_late = false;
};

/// A conjugate-gradient method for one system, whose steps are iterations; those that are queued after the last one
/// change nothing. The methods have in common the guess, its residual, the loop of iterations, how they end. Each adds
/// its vectors, how it begins, and a step.
///
/// Where the iteration ends is decided from sums over all ranks. MPI's all-reduction has one result, and the libraries
/// in use give its bits to every rank, NCCL too; so all ranks end at the same iteration without being told.
class Solver : public miniapp::Steps {
 public:
  /// Collective. `label` is that of the vector that the matrix is multiplied with, for which `own_and_ghosts` has room
  /// unless it is empty.
  Solver(const Workspace&, const std::string& label, const Vector& own_and_ghosts = {});

  /// Collective. A few iterations, after which it is chosen whether iterations are made by a graph. Throws
  /// config::Error if the deck wants a graph that cannot be.
  void warm_up();
  /// Collective, before reset(). The first iterations by launches of many, if there are such, beside single ones.
  miniapp::Verification verify_launches();
  /// Collective, before reset(). A sample of seconds_alone().
  void time_alone();
  /// Local. The guess again.
  void reset();

  miniapp::StepPlan begin() final;
  std::int64_t advance(std::int64_t made, std::int64_t until) final;
  std::optional<std::int64_t> ended(std::int64_t made, bool wait) final;
  void drain() final;
  double value() const final { return log_.made().empty() ? 0 : log_.made().back().residual; }

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
  Vector solution() const { return scaled(1 / unit_, x_); }
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
  /// Local. Seconds of an iteration that exchanges neither ghosts nor sums: samples.
  const std::vector<double>& seconds_alone() const { return seconds_alone_; }
  /// Local. Phases of all exchanges since the last reset().
  comm::PhaseTimes exchange_times() const;
  /// Local. Of the iterations after the first `begin`, to the one that makes them `end`.
  Cost cost(std::int64_t begin, std::int64_t end) const;
  /// Local. What the record says of the method, an object.
  virtual nlohmann::ordered_json record() const;

 protected:
  /// Collective. Of residual() = b - A x: what the first step needs, and iteration 0 to the log.
  virtual void begin_iteration() = 0;
  /// Collective; only queues where that is possible. The next iteration.
  virtual void step() = 0;
  bool ends_late() const { return parts_.ends_late; }
  /// Collective. If it ends late: the residual of the last step to the log.
  virtual void end() {}
  /// Local. If so: whether end() has been called since the last step, so that the next one leaves it.
  bool drained() const { return drained_; }
  void set_drained(bool drained) { drained_ = drained; }
  /// Local. Whether steps exchange ghosts and sums.
  bool exchanges() const { return exchanges_; }
  /// Local, after steps have been made. Throws comm::Error if a kernel has waited for another rank in vain.
  virtual void check() const {}
  /// Queued. Ghosts are 0, in all vectors that have some; so may be all else.
  virtual void clear_ghosts();
  /// Collective. The vectors that a step goes on from have been given; others that follow from them are not yet what
  /// they were.
  virtual void complete_vectors() {}
  /// Local. What record() tells of a solve so far, and its way back.
  virtual std::vector<double> counts() const { return {}; }
  virtual void set_counts(const std::vector<double>&) {}
  /// Collective. Makes vectors of recurrences anew, every so many iterations.
  virtual void replace() {}
  std::int64_t replace_every() const { return parts_.replace_every; }
  /// Local. Whether vectors are made anew after so many further steps.
  bool replaces_after(std::int64_t more) const {
    const auto steps = steps_ + more;
    return replace_every() > 0 && steps % replace_every() == 0 && steps < work_.options.max_iterations;
  }
  /// Collective. Makes the next steps, at most so many, one after the other, after which drained() is right. Returns
  /// their number.
  virtual std::int64_t make_steps(std::int64_t most);
  /// Local. The launch of many steps; empty: each has its own. By how much x may differ, beside its size.
  virtual std::string launch() const { return graph_ ? "graph" : ""; }
  virtual double launch_tolerance() const { return 0; }
  /// Local. Whether each step has its launches, whatever was chosen.
  bool singly() const { return singly_; }
  /// Collective, in warm_up(). Whether iterations are repeated by a graph, or each by launches.
  virtual void choose_repetition();
  const std::vector<GlobalDots*>& sums() const { return parts_.sums; }
  const Vector& residual() const { return parts_.residual; }
  const Vector& scratch() const { return parts_.scratch; }

  /// All ranks, with what the exchange of ghosts has chosen: for other exchanges of the same ghosts.
  const comm::Communicator& exchange_comm() const { return comm_ ? *comm_ : work_.comm; }
  std::int64_t own() const { return work_.partition.own; }
  const Space& compute() const { return work_.streams.compute(); }
  /// Whether kernels compute sums, and multiply with a diagonal, on the way.
  bool fused() const { return fused_; }
  /// The diagonal of M that kernels multiply with; null: none.
  const Vector* diagonal() const { return fused_ && preconditioner_ ? preconditioner_->diagonal() : nullptr; }
  /// Whether M is there and must be applied.
  bool applies() const { return preconditioner_ && !diagonal(); }

  Vector vector(const std::string& label, bool needed = true) const {
    if (!needed) return {};
    const Vector values = miniapp::zeroed<double>("cg/" + label, static_cast<std::size_t>(own()));
    miniapp::use_huge_pages(values);
    return values;
  }

  /// The right-hand side of the solve: of all vectors and sums that they are multiplied with unit_.
  const Vector& rhs() const { return b_; }

  /// Local. Rows, timed as vectors.
  template <class Row>
  void update(const char* label, const Row& row) {
    const miniapp::ScopedTimer timed(vectors_);
    for_rows(label, compute(), own(), row);
  }
  /// Local. The same, and then last() by one thread; `sums` lends what teams need for it.
  template <class Row, class Last>
  void update_then(const char* label, const Row& row, const GlobalDots& sums, const Last& last) {
    const miniapp::ScopedTimer timed(vectors_);
    for_rows_then(label, compute(), own(), row, sums.parts(), last);
  }
  /// Local. The same, and then last() by one thread with this rank's sums of what the rows return.
  template <int count, class Row, class Last>
  void update_with_sums(const char* label, const Row& row, const GlobalDots& sums, const Last& last) {
    const miniapp::ScopedTimer timed(vectors_);
    for_rows_with_sums<count>(label, compute(), own(), row, sums.parts(), last);
  }
  /// Local. Sum k = a.b.
  void dot(GlobalDots& sums, int k, const Vector& a, const Vector& b) {
    const miniapp::ScopedTimer timed(vectors_);
    sums.dot(compute(), k, a, b);
  }
  /// Local. One thread.
  template <class Kernel>
  void one(const char* label, const Kernel& kernel) {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(compute(), 0, 1), kernel);
  }
  /// Collective. The sums of all ranks.
  void start(GlobalDots&);
  void finish(GlobalDots&);
  void reduce(GlobalDots& sums) {
    start(sums);
    finish(sums);
  }
  /// Collective. y = A v, through the ghosted vector, which holds v afterwards.
  void multiply(const Vector& v, const Vector& y);

 private:
  /// Collective.
  void begin_solve(double squared_tolerance);
  double squared_tolerance() const;
  void exchange(bool exchanges);
  double choose_unit();
  Vector scaled(double factor, const Vector&) const;
  void step_unless_ended();
  void replay_graph();
  std::optional<std::string> graph_refusal();

 protected:
  Workspace work_;
  GhostedVector ghosted_;

 private:
  std::optional<comm::Communicator> comm_; ///< where the exchange had a choice: what it has chosen

 protected:
  Operator product_;
  std::unique_ptr<Preconditioner> preconditioner_;
  Vector x_;
  ResidualLog log_;
  Kokkos::View<CgScalars, Space> numbers_; ///< 0 when begin_iteration() is called
  MethodParts parts_;                      ///< set by the method's constructor

 private:
  double unit_; ///< a power of two, so that squares are in range: b, x and all that comes of them are times this
  Vector b_, guess_;
  bool fused_;
  bool drained_ = false;
  bool exchanges_ = true;
  bool singly_ = false;
  std::vector<double> seconds_alone_;
  bool goes_on_ = false;   ///< the solve begins where go_on_from() says
  std::int64_t steps_ = 0; ///< of the solve
  GlobalDots rhs_;
  stepping::StepGraph<Space> graph_; // after what it uses
  miniapp::Timer& vectors_;
  miniapp::Timer& post_;
  miniapp::Timer& wait_;
};

/// Collective. A whole solve from the guess, or from where go_on_from() says.
inline Outcome solve(Solver& solver, const miniapp::BetweenSteps& between = {}) {
  miniapp::run_steps(solver, between);
  return solver.outcome();
}

/// Collective. What the options ask for; null: none.
std::unique_ptr<Preconditioner> make_preconditioner(const Workspace&);

/// Collective.
std::unique_ptr<Solver> make_classic(const Workspace&);
std::unique_ptr<Solver> make_merged(const Workspace&);
std::unique_ptr<Solver> make_pipelined(const Workspace&);
std::unique_ptr<Solver> make_solver(const Workspace&);

} // namespace kontor::cg
