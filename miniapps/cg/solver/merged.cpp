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
#include "cg/solver/persistent_solver.hpp"

namespace kontor::cg {
namespace {

template <bool scaled>
struct Update : MergedUpdate {
  KOKKOS_FUNCTION PartialSums<2> operator()(std::int64_t i, const StepScalars& c) const {
    if (!c.goes_on) return {};
    auto row = load(i);
    row.step(u(i), c);
    store(i, row);
    const double ui = scaled ? inverse(i) * row.r : row.r;
    if constexpr (scaled) u(i) = ui;
    return row.sums(ui);
  }
};

/// The method with one sum an iteration, after the product.
class Merged final : public PersistentSolver {
 public:
  explicit Merged(const Workspace& work)
      : PersistentSolver(work, "cg/u"), r_(preconditioner_ ? vector("r") : ghosted_.own()), w_(vector("w")),
        p_(vector("p")), s_(vector("s")), inverse_(diagonal() ? *diagonal() : Vector()),
        sums_(exchange_comm(), "r.u, r.r and u.w", 4, compute(), work.options.sums) {
    parts_ = {.vectors = {{"r", r_}, {"w", w_}, {"p", p_}, {"s", s_}},
              .sums = {&sums_},
              .residual = r_,
              .scratch = w_,
              .step = step_cost(),
              // On a device the next step's updates end a step, or it would be another kernel; a host sees sooner that
              // there is no next step.
              .ends_late = work.as_on_device};
    if (preconditioner_) parts_.vectors.push_back({"u", ghosted_.own()});
  }

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
  Cost step_cost() const {
    const bool scaled = diagonal() != nullptr;
    auto cost = product_cost + MergedUpdate::cost_of(scaled, preconditioner_ != nullptr) +
                (fused() ? Cost{.updates = 1} : dot_cost);
    if (applies()) cost += preconditioner_->cost();
    if (applies() && fused()) cost += dot_cost;                                         // r.u
    if (!fused()) cost += Cost{.reads = 1} + (applies() ? dot_cost : Cost{.reads = 1}); // r.r, r.u
    return cost;
  }
  void end() override {
    if (ends_late()) write_end();
  }
  void write_end() { one("cg/end of a step", WriteEnd{before()}); }
  MergedUpdate updates() const { return {x_, r_, ghosted_.own(), w_, p_, s_, inverse_, before()}; }
  EndOfStep before() const {
    return {sums_.local(), true, false, ends_late() && !drained(), numbers_.data(), log_.writer()};
  }

  std::variant<MergedUpdate, PipelinedUpdate> rows() override { return updates(); }

  void multiply_and_reduce() {
    product_.apply(ghosted_, w_, fused() ? sums_.local(2) : nullptr);
    if (!fused()) dot(sums_, 2, ghosted_.own(), w_);
    reduce(sums_);
    if (!ends_late()) write_end();
  }

  Vector r_, w_, p_, s_, inverse_;
  GlobalDots sums_;
};

} // namespace

std::unique_ptr<Solver> make_merged(const Workspace& work) { return std::make_unique<Merged>(work); }

} // namespace kontor::cg
