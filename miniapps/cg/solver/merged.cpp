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
class Merged final : public OneSumMethod {
 public:
  explicit Merged(CgState& state)
      : OneSumMethod(state), r_(cg_.preconditioner ? cg_.vector("r") : cg_.ghosted.own()), w_(cg_.vector("w")),
        p_(cg_.vector("p")), s_(cg_.vector("s")), inverse_(cg_.diagonal() ? *cg_.diagonal() : Vector()),
        sums_(cg_.exchange_comm(), "r.u, r.r and u.w", 4, cg_.compute(), cg_.work.options.sums) {
    parts_ = {.vectors = {{"r", r_}, {"w", w_}, {"p", p_}, {"s", s_}},
              .sums = {&sums_},
              .residual = r_,
              .scratch = w_,
              .step = step_cost(),
              // On a device the next step's updates end a step, or it would be another kernel; a host sees sooner that
              // there is no next step.
              .ends_late = cg_.work.as_on_device};
    if (cg_.preconditioner) parts_.vectors.push_back({"u", cg_.ghosted.own()});
  }

 private:
  void begin() override {
    for (const auto& vector : {p_, s_}) Kokkos::deep_copy(cg_.compute(), vector, 0.0);
    if (cg_.preconditioner) cg_.preconditioner->apply(r_, cg_.ghosted.own());
    cg_.dot(sums_, 0, r_, cg_.ghosted.own());
    cg_.dot(sums_, 1, r_, r_);
    multiply_and_reduce();
  }
  void step() override {
    const auto& u = cg_.ghosted.own();
    if (cg_.diagonal()) {
      cg_.update_with_sums<2>("cg/update", Update<true>{updates()}, sums_, EndThenStore<2>{before(), sums_.local()});
    } else {
      const Update<false> change{updates()};
      if (cg_.fused)
        cg_.update_with_sums<2>("cg/update", change, sums_, EndThenStore<2>{before(), sums_.local()});
      else
        cg_.update_then("cg/update", change, sums_, EndThenStore<0>{before(), nullptr});
      if (cg_.preconditioner) cg_.preconditioner->apply(r_, u);
      if (!cg_.fused || cg_.preconditioner) cg_.dot(sums_, 0, r_, u);
      if (!cg_.fused) cg_.dot(sums_, 1, r_, r_);
    }
    multiply_and_reduce();
  }
  Cost step_cost() const {
    const bool scaled = cg_.diagonal() != nullptr;
    auto cost = product_cost + MergedUpdate::cost_of(scaled, cg_.preconditioner != nullptr) +
                (cg_.fused ? Cost{.updates = 1} : dot_cost);
    if (cg_.applies()) cost += cg_.preconditioner->cost();
    if (cg_.applies() && cg_.fused) cost += dot_cost;                                         // r.u
    if (!cg_.fused) cost += Cost{.reads = 1} + (cg_.applies() ? dot_cost : Cost{.reads = 1}); // r.r, r.u
    return cost;
  }
  void end() override { cg_.one("cg/end of a step", WriteEnd{before()}); }
  MergedUpdate updates() const { return {cg_.x, r_, cg_.ghosted.own(), w_, p_, s_, inverse_, before()}; }
  EndOfStep before() const {
    return {sums_.local(), true, false, parts_.ends_late && !cg_.closed, cg_.numbers.data(), cg_.log.writer()};
  }

  OneSumUpdate rows() override { return updates(); }

  void multiply_and_reduce() {
    cg_.product.apply(cg_.ghosted, w_, cg_.fused ? sums_.local(2) : nullptr);
    if (!cg_.fused) cg_.dot(sums_, 2, cg_.ghosted.own(), w_);
    cg_.reduce(sums_);
    if (!parts_.ends_late) end();
  }

  Vector r_, w_, p_, s_, inverse_;
  GlobalDots sums_;
};

} // namespace

std::unique_ptr<OneSumMethod> make_merged(CgState& state) { return std::make_unique<Merged>(state); }

} // namespace kontor::cg
