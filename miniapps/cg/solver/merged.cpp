// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A. T. Chronopoulos, C. W. Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl. Math. 25
// (1989); preconditioned as in P. Ghysels, W. Vanroose, "Hiding global synchronization latency in the preconditioned
// conjugate gradient algorithm", Parallel Comput. 40 (2014), algorithm 2.
//
// Vectors: x, r, w, p, s; u with a preconditioner.
// Sums: one an iteration, of r.u, u.w and r.r together, after the product.
// Rounding: s = A p by a recurrence, and p.A p by another, so r is farther from b - A x than in classic, and a p.A p
// that is not above 0 need not be the matrix's fault.
#include "cg/solver/one_sum.hpp"
#include "cg/solver/peers.hpp"
#include "cg/solver/persistent.hpp"
#include "cg/solver/solver.hpp"

#include <kontor/comm/exchange/trial.hpp>
#include <kontor/comm/phase_times.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kontor::cg {
namespace {

using stepping::Launch;

template <bool scaled>
struct Update : MergedUpdate {
  KOKKOS_FUNCTION PartialSums<2> operator()(std::int64_t i, const StepScalars& c) const { return row<scaled>(i, c); }
};

/// Memory of all ranks for a solver that is made with it.
struct PeersFirst {
  std::optional<Peers> peers;
};

/// Equal on all ranks: why iterations cannot be made by one kernel.
std::optional<std::string> persistent_refusal(const Workspace& work) {
  const auto& options = work.options;
  if (!work.as_on_device) return "iterations are made on the host";
  if (!options.fused || options.sums != SumKind::fast)
    return "kernels do not compute sums on the way (solver.fused, solver.sums)";
  if (options.preconditioner != PreconditionerKind::none && options.preconditioner != PreconditionerKind::jacobi)
    return "a preconditioner is applied by kernels of its own";
  if (!work.matrix.can_iterate()) return "the matrix has no such kernel; formats csr, sell and matrix_free have";
  return Peers::refusal(work.comm);
}

/// Collective. Nothing where one rank is alone, where it is not wanted, or where there is a refusal.
std::optional<Peers> make_peers(const Workspace& work) {
  const auto& wanted = work.options.launch;
  const auto refusal = persistent_refusal(work);
  if (wanted == Launch::persistent && refusal)
    wanted.location.fail(fmt::format("is persistent, but {}; choose auto or each", *refusal));
  if (refusal || work.comm.size() == 1 || (wanted != Launch::persistent && wanted != Launch::automatic))
    return std::nullopt;
  return std::optional<Peers>(std::in_place, work.comm, work.partition);
}

/// The method with one sum an iteration, after the product.
class Merged final : PeersFirst, public Solver {
 public:
  explicit Merged(const Workspace& work)
      : PeersFirst{make_peers(work)}, Solver(work, "cg/u", peers ? peers->vector() : Vector()),
        r_(preconditioner_ ? vector("r") : ghosted_.own()), w_(vector("w")), p_(vector("p")), s_(vector("s")),
        inverse_(diagonal() ? *diagonal() : Vector()),
        sums_(exchange_comm(), "r.u, r.r and u.w", 4, compute(), work.options.sums), late_(work.as_on_device) {}

 private:
  void begin_iteration() override {
    for (const auto& vector : {p_, s_}) Kokkos::deep_copy(compute(), vector, 0.0);
    if (preconditioner_) preconditioner_->apply(r_, ghosted_.own());
    dot(sums_, 0, r_, ghosted_.own());
    dot(sums_, 1, r_, r_);
    multiply_and_reduce();
  }
  void step() override {
    const auto& u = ghosted_.own();
    if (diagonal()) {
      update_with_sums<2>("cg/update", Update<true>{updates()}, sums_, EndThenStore<2>{before(), sums_.local()});
    } else {
      const Update<false> change{updates()};
      if (fused())
        update_with_sums<2>("cg/update", change, sums_, EndThenStore<2>{before(), sums_.local()});
      else
        update_then("cg/update", change, sums_, EndThenStore<0>{before(), nullptr});
      if (preconditioner_) preconditioner_->apply(r_, u);
      if (!fused() || preconditioner_) dot(sums_, 0, r_, u);
      if (!fused()) dot(sums_, 1, r_, r_);
    }
    multiply_and_reduce();
  }
  Cost step_cost() const override {
    const bool scaled = diagonal() != nullptr;
    auto cost = product_cost + MergedUpdate::cost_of(scaled, preconditioner_ != nullptr) +
                (fused() ? Cost{.updates = 1} : dot_cost);
    if (applies()) cost += preconditioner_->cost();
    if (applies() && fused()) cost += dot_cost;                                         // r.u
    if (!fused()) cost += Cost{.reads = 1} + (applies() ? dot_cost : Cost{.reads = 1}); // r.r, r.u
    return cost;
  }
  /// On a device the next step's updates end a step, or it would be another kernel; a host sees sooner that there is no
  /// next step.
  bool ends_late() const override { return late_; }
  void end() override {
    if (peers) {
      work_.streams.fence();
      peers->check(); // the last kernel may have waited in vain
    }
    if (late_) write_end();
  }
  void write_end() { one("cg/end of a step", WriteEnd{before()}); }
  MergedUpdate updates() const { return {x_, r_, ghosted_.own(), w_, p_, s_, inverse_, before()}; }
  EndOfStep before() const { return {sums_.local(), true, false, late_ && !drained(), numbers_.data(), log_.writer()}; }

  std::vector<SolverStateVector> vectors() const override {
    std::vector<SolverStateVector> all{{"r", r_}, {"w", w_}, {"p", p_}, {"s", s_}};
    if (preconditioner_) all.push_back({"u", ghosted_.own()});
    return all;
  }
  std::vector<GlobalDots*> sums() override { return {&sums_}; }
  const Vector& residual() const override { return r_; }
  const Vector& scratch() const override { return w_; }

  /// The deck's choice, or the fastest.
  void choose_repetition() override {
    Solver::choose_repetition();
    const auto& wanted = work_.options.launch;
    persistent_ = wanted == Launch::persistent;
    if (persistent_) iterate(ResidualLog::most_at_once);
    if (wanted != Launch::automatic || persistent_refusal(work_)) return;
    const device::Region region("cg/trial");
    trial_ = comm::try_in_turns(work_.comm, 2, [&](std::size_t persistent, int count) {
      persistent_ = persistent == 1;
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

  std::int64_t make_steps(std::int64_t most) override {
    if (!persistent_) return Solver::make_steps(most);
    const miniapp::ScopedTimer timed(work_.timers["persistent"]);
    const auto count = std::min<std::int64_t>(most, ResidualLog::most_at_once);
    iterate(static_cast<int>(count));
    return count;
  }

  /// Iterations by one kernel, which leave their end to the next one, as step() does.
  void iterate(int count) {
    if (peers) peers->check();
    work_.streams.compute_waits();
    work_.matrix.iterate(compute(), ghosted_.all(), w_,
                         {updates(), diagonal() != nullptr, sums_.local(), own(), count, &teams_,
                          peers ? peers->steps() : PeerSteps(), made_by_kernels_ + 1});
    work_.streams.exchange_follows();
    made_by_kernels_ += static_cast<device::Counter>(count);
  }

  nlohmann::ordered_json record() const override {
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

  void multiply_and_reduce() {
    product_.apply(ghosted_, w_, fused() ? sums_.local(2) : nullptr);
    if (!fused()) dot(sums_, 2, ghosted_.own(), w_);
    reduce(sums_);
    if (!late_) write_end();
  }

  Vector r_, w_, p_, s_, inverse_;
  GlobalDots sums_;
  bool late_;
  bool persistent_ = false;
  PersistentTeams teams_;
  device::Counter made_by_kernels_ = 0; ///< iterations, those of trials included
  std::vector<double> trial_;           ///< seconds of as many iterations without and with it; empty: not tried
};

} // namespace

std::unique_ptr<Solver> make_merged(const Workspace& work) { return std::make_unique<Merged>(work); }

} // namespace kontor::cg
