// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/cost.hpp"
#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "cg/options.hpp"
#include "cg/solver/stop_reason.hpp"
#include "partition/ghosted_vector.hpp"
#include "partition/partition.hpp"
#include "run/loop/steps.hpp"
#include "run/record/timers.hpp"
#include "stepping/device.hpp"
#include "stepping/streams.hpp"

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kontor::cg {

class Preconditioner;
struct SolverState;
struct SolverStateVector;

/// What a method works with; outlives it.
struct Workspace {
  const comm::Communicator& comm;
  const Partition& partition;
  const CompressedRows& rows; ///< of which preconditioners are made
  const Matrix& matrix;
  const Vector& rhs;
  const Vector& initial;
  const SolverOptions& options;
  bool overlap = true;
  stepping::Streams<Space>& streams;
  miniapp::Timers& timers;
  bool as_on_device = stepping::on_device; ///< iterations are queued; tests do it on a CPU too
};

/// A conjugate-gradient method for one system; its steps are iterations, and those that are queued after the
/// last one change nothing.
class Solver : public miniapp::Steps {
 public:
  /// Collective. A few iterations, after which it is chosen whether iterations are made by a graph. Throws
  /// config::Error if the deck wants a graph that cannot be.
  virtual void warm_up() = 0;
  /// Local. The guess again.
  virtual void reset() = 0;
  /// Collective, after drain(). How the solve ended, the same on all ranks.
  virtual Outcome outcome() = 0;
  /// Local, after drain(). What a solve goes on from.
  virtual SolverState state() const = 0;
  /// Collective, after reset(). The next solve goes on from there: what state() gave, whose vectors
  /// fill(SolverStateVector) gives their values.
  using FillVector = std::function<void(const SolverStateVector&)>;
  virtual void go_on_from(const SolverState&, const FillVector& fill) = 0;
  /// The solution, own values.
  virtual const Vector& solution() const = 0;
  /// Relative residuals of the last solve by the recurrence, from iteration 0 on.
  virtual const std::vector<double>& history() const = 0;
  /// The alpha and beta by which each of these but the first was reached.
  virtual std::vector<std::pair<double, double>> coefficients() const = 0;
  /// The exchange of what the matrix is multiplied with in each iteration.
  virtual const comm::Exchange<Vector>& exchange() const = 0;
  /// All ranks, with what that exchange has chosen: for other exchanges of the same ghosts.
  virtual const comm::Communicator& exchange_comm() const = 0;
  /// M; null: none.
  virtual Preconditioner* preconditioner() const = 0;
  /// Local. Seconds of an iteration that exchanges neither ghosts nor sums; 0: not measured.
  virtual double seconds_alone() const = 0;
  /// Local. Phases of all exchanges since the last reset().
  virtual comm::PhaseTimes exchange_times() const = 0;
  /// Local. Of the iterations after the first `begin`, to the one that makes them `end`.
  virtual Cost cost(std::int64_t begin, std::int64_t end) const = 0;
  /// Local. What the record says of the method, an object.
  virtual nlohmann::ordered_json record() const = 0;
};

/// Collective. A whole solve from the guess, or from where go_on_from() says.
inline Outcome solve(Solver& solver, const miniapp::BetweenSteps& between = {}) {
  miniapp::run_steps(solver, between);
  return solver.outcome();
}

/// Collective.
std::unique_ptr<Solver> make_classic(const Workspace&);
std::unique_ptr<Solver> make_merged(const Workspace&);
std::unique_ptr<Solver> make_pipelined(const Workspace&);
std::unique_ptr<Solver> make_persistent(const Workspace&);
std::unique_ptr<Solver> make_solver(const Workspace&);

} // namespace kontor::cg
