// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/persistent_solver.hpp"

#include <kontor/comm/exchange/trial.hpp>
#include <kontor/comm/phase_times.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::cg {
namespace {

using stepping::Launch;

/// Equal on all ranks: why iterations cannot be made by one kernel.
std::optional<std::string> persistent_refusal(const Workspace& work) {
  const auto& options = work.options;
  if (!work.as_on_device) return "iterations are made on the host";
  if (options.sums != SumKind::fast) return "kernels do not compute sums on the way (solver.sums)";
  if (options.preconditioner != PreconditionerKind::none && options.preconditioner != PreconditionerKind::jacobi)
    return "a preconditioner is applied by kernels of its own";
  if (options.method == Method::pipelined && options.replace_every == 1)
    return "vectors are made anew after each iteration (solver.replace_every)";
  if (!work.matrix.thread_rows()) return "the matrix has no such kernel; formats sell and matrix_free have";
  return Peers::refusal(work.comm);
}

/// Collective. Nothing where it is not wanted, or where there is a refusal.
std::optional<Peers> make_peers(const Workspace& work) {
  const auto& wanted = work.options.launch;
  const auto refusal = persistent_refusal(work);
  if (wanted == Launch::persistent && refusal)
    wanted.location.fail(fmt::format("is persistent, but {}; choose auto or each", *refusal));
  if (refusal || (wanted != Launch::persistent && wanted != Launch::automatic)) return std::nullopt;
  if (wanted == Launch::automatic && !stepping::may_try_persistent(work.comm)) return std::nullopt;
  const int vectors = work.options.method == Method::pipelined ? 2 : 1;
  return std::optional<Peers>(std::in_place, work.comm, work.partition, vectors);
}

} // namespace

PersistentSolver::PersistentSolver(const Workspace& work, const std::string& label, Make make)
    : PeersFirst{make_peers(work)}, Solver(work, label, make, peers ? peers->vector() : Vector()) {}

/// The deck's choice, or the fastest.
void PersistentSolver::choose_repetition() {
  Solver::choose_repetition();
  persistent_ = work_.options.launch == Launch::persistent;
  if (persistent_) iterate(ResidualLog::most_at_once);
  if (!peers || persistent_) return;
  const device::Region region("cg/trial");
  trial_ = comm::try_in_turns(work_.comm, 2, [&](std::size_t persistent, int count) {
    persistent_ = persistent == 1;
    set_drained(false); // as usual between steps: a graph begins so
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i)
      for (std::int64_t made = 0; made < ResidualLog::most_at_once;)
        made += make_steps(ResidualLog::most_at_once - made);
    work_.streams.fence();
    watch.lap(seconds);
    return seconds / count;
  });
  constexpr double noise = 0.99;
  persistent_ = trial_[1] < noise * trial_[0];
}

void PersistentSolver::clear_ghosts() {
  Solver::clear_ghosts();
  if (peers) peers->clear(compute());
}

std::int64_t PersistentSolver::make_steps(std::int64_t most) {
  if (!persistent_ || singly()) return Solver::make_steps(most);
  // A replacement makes the sums of the step before it anew, so that step's end must be open.
  const auto by_kernel = replaces_after(most) ? most - 1 : most;
  if (by_kernel == 0) return Solver::make_steps(1);
  const miniapp::ScopedTimer timed(work_.timers["persistent"]);
  const auto count = std::min<std::int64_t>(by_kernel, ResidualLog::most_at_once);
  iterate(static_cast<int>(count));
  return count;
}

void PersistentSolver::iterate(int count) {
  check();
  work_.streams.compute_waits();
  const PersistentSteps steps{.update = static_cast<OneSumMethod&>(method()).rows(),
                              .multiplied = ghosted_.own(),
                              .product = scratch(),
                              .steps = count,
                              .teams = &teams_,
                              .peers = exchanges() ? peers->steps() : peers->steps_alone(),
                              .first = numbers_used_ + 1};
  launch_persistent(compute(), *work_.matrix.thread_rows(), steps);
  work_.streams.exchange_follows();
  numbers_used_ += static_cast<device::Counter>(steps.numbers());
  set_drained(true);
}

void PersistentSolver::check() const {
  if (peers) peers->check();
}

nlohmann::ordered_json PersistentSolver::record() const {
  auto record = Solver::record();
  if (!trial_.empty()) {
    auto& trial = record["launch_trial"];
    trial["iterations"] = ResidualLog::most_at_once;
    trial[record["launch"].get<std::string>()] = trial_[0];
    trial["persistent"] = trial_[1];
  }
  if (persistent_) record["launch"] = "persistent";
  return record;
}

std::unique_ptr<Solver> make_solver(const Workspace& work) {
  const auto& launch = work.options.launch;
  if (launch == Launch::persistent && work.options.method == Method::classic)
    launch.location.fail("is persistent, but one kernel makes only iterations of solver.method merged and pipelined");
  switch (work.options.method) {
  case Method::merged: return std::make_unique<PersistentSolver>(work, "cg/u", make_merged);
  case Method::pipelined: return std::make_unique<PersistentSolver>(work, "cg/m", make_pipelined);
  case Method::classic: break;
  }
  return std::make_unique<Solver>(work, "cg/p", make_classic);
}

} // namespace kontor::cg
