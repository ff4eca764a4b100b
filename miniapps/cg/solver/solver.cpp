// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/solver.hpp"

#include "cg/scale.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kontor::cg {
namespace {

/// A residual that is this small a part of b is 0: where tolerance 0 asks for all iterations, squares must not
/// underflow.
constexpr double no_residual = 1e-100;

struct FirstResidual {
  Vector b, ax, r;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { r(i) = b(i) - ax(i); }
};

struct BeginState {
  const double* bb;
  double squared_tolerance;
  std::int64_t stagnation;
  bool definite;
  IterationState* state;
  CgScalars* numbers;
  KOKKOS_FUNCTION void operator()(int) const {
    *numbers = CgScalars{};
    *state = IterationState{};
    state->rhs = *bb;
    state->tolerance = squared_tolerance * *bb;
    state->stagnation = stagnation;
    if (*bb == 0)
      state->ended = code_of(StopReason::zero_rhs);
    else if (!definite)
      state->ended = code_of(StopReason::indefinite);
  }
};

/// Counts what differs by more.
struct Differs {
  Vector a, b;
  double most;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    const double difference = a(i) - b(i);
    count += difference <= most && -difference <= most ? 0 : 1;
  }
};

/// x = 0 if b is.
struct ZeroSolution {
  Vector x;
  const IterationState* state;
  KOKKOS_FUNCTION bool scalars() const { return state->ended == code_of(StopReason::zero_rhs); }
  KOKKOS_FUNCTION void operator()(std::int64_t i, bool zero) const {
    if (zero) x(i) = 0;
  }
};

} // namespace

Solver::Solver(const Workspace& work, const std::string& label, const Vector& own_and_ghosts)
    : cg_(work, label, own_and_ghosts), rhs_(work.comm, "b.b", 1, work.streams.compute(), work.options.sums) {
  cg_.preconditioner = make_preconditioner(
      {{cg_.exchange_comm(), work.partition, work.rows, work.matrix}, work, work.options, work.rhs, work.initial});
}

void Solver::reset() {
  if (cg_.guess.extent(0) > 0)
    Kokkos::deep_copy(cg_.x, cg_.guess);
  else
    Kokkos::deep_copy(cg_.x, 0.0);
  goes_on_ = false;
  cg_.ghosted.exchange().reset_times();
  if (cg_.preconditioner) cg_.preconditioner->reset_exchange_times();
}

void Solver::warm_up() {
  reset();
  begin_solve(-1);
  for (int i = 0; i < 2; ++i) queue(0, {i});
  method_->replace();
  queue(0, {2});
  launches_.choose();
  close();
  cg_.work.streams.fence();
}

void Solver::exchange(bool exchanges) {
  cg_.product.exchange(exchanges);
  for (auto* sums : sums()) sums->exchange(exchanges);
  if (cg_.preconditioner) cg_.preconditioner->exchange(exchanges);
}

miniapp::Verification Solver::verify_launches() {
  Vector kept;
  // Sums of a persistent kernel have an order of their own.
  const double most = launches_.chosen() == miniapp::Launch::persistent ? 1e-9 : 0;
  const auto differences = [&] {
    std::int64_t count = 0;
    Kokkos::parallel_reduce("cg/differences of launches", Policy(compute(), 0, own()),
                            Differs{cg_.x, kept, most * largest_entry(cg_.work.comm, compute(), kept)}, count);
    return static_cast<double>(comm::allreduce(cg_.work.comm, count, comm::ReduceOp::sum));
  };
  return launches_.verify({.restart = [this] { reset(); },
                           .remember =
                               [&] {
                                 kept = Vector("cg/x by launches", cg_.x.extent(0));
                                 Kokkos::deep_copy(kept, cg_.x);
                               },
                           .differences = differences,
                           .places = "entries of x",
                           .remark = most > 0 ? fmt::format(" within {:.0e}", most) : ", bit for bit"});
}

/// With ghosts of 0 each rank solves a definite system of its own rows: an iteration that has ended is not like others.
void Solver::begin_alone() {
  exchange(false);
  Kokkos::deep_copy(compute(), cg_.ghosted.all(), 0.0);
  steps_ = 0;
  begin_solve(-1);
  exchange(true);
}

bool Solver::end_alone() { return comm::allreduce(cg_.work.comm, cg_.log.state_now().ended, comm::ReduceOp::max) == 0; }

miniapp::StepPlan Solver::plan() const {
  return {.first = goes_on_ ? steps_ : 0,
          .limit = cg_.work.options.max_iterations,
          .target = cg_.work.options.tolerance,
          .break_every = replace_every()};
}

miniapp::LaunchTerms Solver::launch_terms() {
  auto refusal = stepping::graph_refusal(cg_.work.comm, exchange());
  if (cg_.preconditioner && cg_.preconditioner->graph_refusal()) refusal = cg_.preconditioner->graph_refusal();
  for (const auto* sums : sums())
    if (!sums->stream_ordered())
      refusal = fmt::format("the host takes part in each sum by backend '{}'", exchange().chosen().backend);
  return {.wanted = cg_.work.options.launch,
          .comm = &cg_.work.comm,
          .streams = &cg_.work.streams,
          .queued = cg_.work.as_on_device,
          .graph_refusal = refusal,
          .kernel_refusal = "one kernel makes only iterations of solver.method merged and pipelined"};
}

void Solver::begin(miniapp::Launch /*launch*/) {
  if (!goes_on_) {
    steps_ = 0;
    begin_solve(squared_tolerance());
  }
  goes_on_ = false;
}

/// Steps that are queued before the host knows that there are too many make no products.
int Solver::queue(int state, const miniapp::Pass& pass) {
  if (!pass.exchanges) exchange(false);
  cg_.product.skip_if(&cg_.log.state()->ended);
  method_->step();
  cg_.product.skip_if(nullptr);
  if (!pass.exchanges) exchange(true);
  cg_.closed = false;
  return state;
}

void Solver::account(const miniapp::Pass& pass) {
  steps_ = pass.after + pass.steps;
  if (replaces_after(0)) method_->replace();
}

void Solver::poll() {
  cg_.ghosted.exchange().poll();
  for (auto* sums : sums()) sums->poll();
}

std::optional<std::int64_t> Solver::ended(std::int64_t made, bool /*wait*/) {
  std::optional<miniapp::ScopedTimer> timed; // on a device the host waits for an iteration of some time ago
  if (cg_.work.as_on_device) timed.emplace(cg_.work.timers["device"]);
  return cg_.log.ended(compute(), made + (open() ? 0 : 1)) ? std::optional(made) : std::nullopt;
}

/// As a method with a tolerance of 0 ends all the same.
double Solver::squared_tolerance() const {
  const double tolerance = std::max(cg_.work.options.tolerance, no_residual);
  return tolerance * tolerance;
}

void Solver::close() {
  if (open()) method_->end();
  cg_.closed = true;
}

/// All of the log is known.
void Solver::drain() {
  close();
  std::optional<miniapp::ScopedTimer> timed;
  if (cg_.work.as_on_device) timed.emplace(cg_.work.timers["device"]);
  cg_.work.streams.fence();
  cg_.log.end(compute(), steps_ + 1);
}

/// `squared_tolerance` is of the residual beside the right-hand side; below 0 it goes on for ever.
void Solver::begin_solve(double squared_tolerance) {
  cg_.closed = false;
  cg_.log.begin();
  rhs_.dot(compute(), 0, cg_.b, cg_.b);
  cg_.reduce(rhs_);
  cg_.one("cg/begin",
          BeginState{rhs_.local(), squared_tolerance, cg_.work.options.stagnation,
                     !cg_.preconditioner || cg_.preconditioner->definite(), cg_.log.state(), cg_.numbers.data()});
  cg_.multiply(cg_.x, scratch());
  for_rows("cg/first residual", compute(), own(), FirstResidual{cg_.b, scratch(), residual()});
  for_rows("cg/zero solution", compute(), own(), ZeroSolution{cg_.x, cg_.log.state()});
  method_->begin();
}

Outcome Solver::outcome() const {
  const auto open = cg_.work.options.tolerance > 0 ? StopReason::limit : StopReason::all_iterations;
  return {cg_.log.ending().value_or(open), static_cast<std::int64_t>(cg_.log.made().size()) - 1,
          cg_.log.made().back().residual, std::sqrt(cg_.log.state_now().rhs) / cg_.unit};
}

std::vector<double> Solver::history() const {
  std::vector<double> residuals;
  for (const auto& entry : cg_.log.made()) residuals.push_back(entry.residual);
  return residuals;
}

std::vector<std::pair<double, double>> Solver::coefficients() const {
  std::vector<std::pair<double, double>> result;
  for (std::size_t i = 1; i < cg_.log.made().size(); ++i)
    result.emplace_back(cg_.log.made()[i].alpha, cg_.log.made()[i].beta);
  return result;
}

SolverState Solver::state() const {
  SolverState state{.iterations = steps_, .vectors = {{"x", cg_.x}}, .state = cg_.log.state_now()};
  state.vectors.insert(state.vectors.end(), parts().vectors.begin(), parts().vectors.end());
  Kokkos::deep_copy(state.numbers, cg_.numbers);
  state.made = cg_.log.made();
  state.counts = method_->counts();
  if (cg_.preconditioner) state.estimates = cg_.preconditioner->estimates();
  return state;
}

void Solver::go_on_from(const SolverState& from, const FillVector& fill) {
  const bool differs =
      cg_.preconditioner && !from.estimates.empty() && cg_.preconditioner->set_estimates(from.estimates);
  cg_.closed = false;                     // as in front of steps that a graph makes
  if (differs) launches_.capture_again(); // graphs have the numbers of the other preconditioner
  auto state = from.state;
  state.tolerance = squared_tolerance() * state.rhs;
  state.stagnation = cg_.work.options.stagnation;
  cg_.log.go_on(state, from.made);
  Kokkos::deep_copy(cg_.numbers, from.numbers);
  if (!from.counts.empty()) method_->set_counts(from.counts);
  for (const auto& vector : from.vectors) fill(vector);
  method_->complete_vectors();
  cg_.work.streams.fence();
  steps_ = from.iterations;
  cg_.closed = true;
  goes_on_ = true;
}

comm::PhaseTimes Solver::exchange_times() const {
  auto times = cg_.ghosted.exchange().times();
  if (cg_.preconditioner) times += cg_.preconditioner->exchange_times();
  return times;
}

Cost Solver::cost(std::int64_t begin, std::int64_t end) const {
  if (end <= begin) return {};
  const auto every = replace_every();
  const auto replacements = every > 0 ? (end - 1) / every - begin / every : 0; // none after the last one
  return static_cast<double>(end - begin) * parts().step + static_cast<double>(replacements) * parts().replacement;
}

nlohmann::ordered_json Solver::record() const {
  nlohmann::ordered_json record;
  if (cg_.work.comm.size() > 1) record["sums_on"] = rhs_.stream_ordered() ? "stream" : "host";
  if (cg_.preconditioner) record.update(cg_.preconditioner->record());
  record.update(method_->record());
  return record;
}

std::unique_ptr<Preconditioner> make_preconditioner(const Workspace& work) {
  const auto iterate = [&work](const Vector& rhs, const Vector& guess, std::int64_t iterations) -> Iterated {
    const SolverOptions options{.preconditioner = PreconditionerKind::jacobi,
                                .tolerance = 0,
                                .max_iterations = iterations,
                                .stagnation = 0,
                                .sums = work.options.sums,
                                .launch = stepping::Launch::per_kernel};
    Solver solver({work, work, options, rhs, guess}, "cg/p", make_classic);
    solver.reset();
    const auto ending = solve(solver).ending;
    return {solver.coefficients(), ending != StopReason::indefinite};
  };
  return make_preconditioner(work, work, work.options, iterate);
}

} // namespace kontor::cg
