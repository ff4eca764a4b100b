// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/persistent_solver.hpp"

#include "stepping/launch_refusal.hpp"

#include <algorithm>

namespace kontor::cg {
namespace {

using stepping::Launch;

/// Equal on all ranks: why iterations cannot be made by one kernel.
std::optional<std::string> persistent_refusal(const Workspace& work) {
  const auto& options = work.options;
  if (!work.as_on_device) return "iterations are made on the host";
  if (options.sums != SumKind::any_order) return "kernels do not compute sums on the way (solver.sums)";
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
  if (refusal || (wanted != Launch::persistent && wanted != Launch::automatic)) return std::nullopt;
  if (wanted == Launch::automatic && stepping::ranks_share_device(work.comm)) return std::nullopt;
  const int vectors = work.options.method == Method::pipelined ? 2 : 1;
  return std::optional<Peers>(std::in_place, work.comm, work.partition, vectors);
}

} // namespace

PersistentSolver::PersistentSolver(const Workspace& work, const std::string& label, Make make)
    : PeersFirst{make_peers(work)}, Solver(work, label, make, peers ? peers->vector() : Vector()) {}

miniapp::LaunchTerms PersistentSolver::launch_terms() {
  auto terms = Solver::launch_terms();
  terms.kernel_refusal = persistent_refusal(cg_.work);
  terms.kernel_steps = ResidualLog::most_at_once;
  return terms;
}

void PersistentSolver::begin_alone() {
  if (peers) peers->clear(compute());
  Solver::begin_alone();
}

void PersistentSolver::drain() {
  Solver::drain();
  if (peers) peers->check();
}

/// A replacement makes the sums of the step before it anew, so that step's end must be open.
int PersistentSolver::kernel_length(std::int64_t made, std::int64_t until) const {
  const auto most = until - made;
  return static_cast<int>(std::min<std::int64_t>(replaces_after(most) ? most - 1 : most, ResidualLog::most_at_once));
}

/// Leaves nothing to the next step.
int PersistentSolver::launch_kernel(std::int64_t /*made*/, int steps, bool exchanges, bool /*may_end*/) {
  peers->check();
  cg_.work.streams.compute_waits();
  const PersistentSteps kernel{.update = static_cast<OneSumMethod&>(method()).rows(),
                               .multiplied = cg_.ghosted.own(),
                               .product = scratch(),
                               .steps = steps,
                               .teams = &teams_,
                               .peers = exchanges ? peers->steps() : peers->steps_alone(),
                               .first = numbers_used_ + 1};
  launch_persistent(compute(), *cg_.work.matrix.thread_rows(), kernel);
  cg_.work.streams.exchange_follows();
  numbers_used_ += static_cast<device::Counter>(kernel.numbers());
  cg_.closed = true;
  return steps;
}

std::unique_ptr<Solver> make_solver(const Workspace& work) {
  switch (work.options.method) {
  case Method::merged: return std::make_unique<PersistentSolver>(work, "cg/u", make_merged);
  case Method::pipelined: return std::make_unique<PersistentSolver>(work, "cg/m", make_pipelined);
  case Method::classic: break;
  }
  return std::make_unique<Solver>(work, "cg/p", make_classic);
}

} // namespace kontor::cg
